//! Somebody swaps a directory for a symlink to the outside while files in it are opened, read and written: what lies
//! outside is never read and never touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use agena::domain::tool::ToolError;
use agena::sandbox::{Root, Workspace};
use rustix::fs::{CWD, RenameFlags, renameat_with};

const OPENS: usize = 100_000;
const WRITES: usize = 2_000;

fn swap(real: &Path, link: &Path, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        renameat_with(CWD, real, CWD, link, RenameFlags::EXCHANGE).unwrap();
    }
}

/// What a look brought: something inside, a refusal, or nothing. Anything else is a leak.
fn look(workspace: &Workspace, at: usize, seen: &mut [usize; 3]) {
    let path = Path::new("dir/file");
    let result = match at % 10 {
        0 => workspace.list(Path::new("dir")).map(|found| {
            assert!(found.iter().all(|one| !one.name().starts_with("secret")), "{found:?}");
        }),
        1 => workspace.look(path).map(|found| assert_eq!(found.size, 6)),
        _ => workspace.read(path, 100).map(|bytes| assert_eq!(bytes, b"inside")),
    };
    match result {
        Ok(()) => seen[0] += 1,
        Err(ToolError::Failed { kind: "path_not_in_workspace", .. }) => seen[1] += 1,
        Err(ToolError::Failed { kind: "file_not_found" | "read_content_failure", .. }) => seen[2] += 1,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn nothing_outside_is_read_or_touched_while_directories_are_swapped() {
    let place = tempfile::tempdir().unwrap();
    let top = place.path().canonicalize().unwrap();
    let (ws, outside) = (top.join("root/ws"), top.join("outside"));
    fs::create_dir_all(ws.join("dir")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(ws.join("dir/file"), "inside").unwrap();
    for name in ["file", "secret"] {
        fs::write(outside.join(name), "outside!").unwrap();
    }
    symlink(&outside, ws.join("link")).unwrap();
    let workspace = Root::open(&top.join("root")).unwrap().workspace(ws.to_str().unwrap()).unwrap();
    let done = AtomicBool::new(false);
    // Inside, refused, and lost to the other thread.
    let mut seen = [0; 3];
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&ws.join("dir"), &ws.join("link"), &done));
        for at in 0..OPENS {
            look(&workspace, at, &mut seen);
            if at % (OPENS / WRITES) == 0 {
                let _ = workspace.write(Path::new("dir/file"), Some("inside"), "inside");
                let _ = workspace.write(Path::new(&format!("dir/new{at}")), None, "new");
                let _ = workspace.write(Path::new(&format!("dir/sub{at}/new")), None, "new");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(seen[0] > 0 && seen[1] > 0, "the race was no race: {seen:?}");
    let mut names: Vec<_> = fs::read_dir(&outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["file", "secret"]);
    for name in names {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "outside!");
    }
}
