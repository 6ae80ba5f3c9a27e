//! The token over real directories.

use std::thread;

use tempfile::TempDir;

use super::*;

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("the directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn made_once_and_then_kept() {
    let root = directory();
    let data_dir = root.path().join("a/b");
    let first = load_or_create(&data_dir).expect("a token");
    let second = load_or_create(&data_dir).expect("a token");
    assert_eq!(first.token.expose(), second.token.expose());
    assert_eq!((first.warning, second.warning), (None, None));
    assert_eq!(first.token.expose().len(), 43);
    assert_eq!(names(&data_dir), ["token"], "no draft stays behind");
    let other = load_or_create(&root.path().join("c")).expect("a token");
    assert!(!other.token.is(&first.token));
}

#[test]
fn those_who_start_at_once_agree() {
    for _ in 0..20 {
        let root = directory();
        let data_dir = root.path().join("data");
        let tokens: Vec<String> = thread::scope(|scope| {
            let start = || load_or_create(&data_dir).expect("a token").token.expose().to_owned();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        assert_eq!(names(&data_dir), ["token"]);
    }
}

#[test]
fn a_file_with_something_else_is_refused_and_left_alone() {
    let good = URL_SAFE_NO_PAD.encode([7; BYTES]);
    let padded = format!("{good}=");
    let long = "A".repeat(10_000);
    for content in ["", "\n", "hush", &good[1..], &padded, &format!("{good} {good}"), &long] {
        let root = directory();
        let path = root.path().join(NAME);
        fs::write(&path, content).expect("a file");
        let error = load_or_create(root.path()).expect_err("refused").to_string();
        let expected = format!(
            "{} does not hold a token; delete it and a new one is made at the next start",
            path.display()
        );
        assert_eq!(error, expected, "{content:?}");
        assert_eq!(fs::read_to_string(&path).expect("the file"), content);
    }
}

#[test]
fn a_newline_at_the_end_is_no_part_of_it() {
    let root = directory();
    let token = URL_SAFE_NO_PAD.encode([7; BYTES]);
    let file = root.path().join(NAME);
    private::write_new(&file, &format!("{token}\r\n")).expect("a file");
    assert_eq!(load_or_create(root.path()).expect("a token").token.expose(), token);
}

#[test]
fn a_data_directory_that_cannot_be_is_one_clear_line() {
    let root = directory();
    let file = root.path().join("file");
    fs::write(&file, "").expect("a file");
    let error = load_or_create(&file).expect_err("refused").to_string();
    assert!(error.contains(&file.display().to_string()) && error.contains("--data-dir"), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("metadata").permissions().mode() & 0o777
    }

    #[test]
    fn made_private() {
        let root = directory();
        let data_dir = root.path().join("data");
        load_or_create(&data_dir).expect("a token");
        assert_eq!((mode(&data_dir), mode(&data_dir.join(NAME))), (0o700, 0o600));
    }

    #[test]
    fn one_that_others_can_use_is_closed_with_a_warning() {
        for open in [0o644, 0o640, 0o602, 0o666] {
            let root = directory();
            let path = root.path().join(NAME);
            let made = load_or_create(root.path()).expect("a token").token;
            fs::set_permissions(&path, fs::Permissions::from_mode(open)).expect("permissions");
            let again = load_or_create(root.path()).expect("a token");
            assert_eq!(again.token.expose(), made.expose());
            let warning = again.warning.expect("a warning");
            assert!(warning.contains(&format!("(mode {open:03o})")), "{warning}");
            assert!(!warning.contains(made.expose()) && !warning.contains('\n'), "{warning}");
            assert_eq!(mode(&path), 0o600);
            assert_eq!(load_or_create(root.path()).expect("a token").warning, None);
        }
    }
}
