//! The list over real directories.

#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// A place for data and a project, both by their real names.
fn place() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().expect("a directory");
    let real = root.path().canonicalize().expect("canonical");
    let (data, project) = (real.join("data"), real.join("project"));
    fs::create_dir(&project).expect("a project");
    (root, data, project)
}

#[test]
fn what_is_trusted_is_listed_once_by_its_real_name_and_for_its_owner_alone() {
    let (root, data, project) = place();
    assert_eq!(listed(&data).expect("no list"), Vec::<PathBuf>::new());
    let way = root.path().join("way");
    symlink(&project, &way).expect("a symlink");
    for given in [&project, &way, &project.join("../project/.")] {
        assert_eq!(add(&data, given).expect("trusted"), project);
    }
    assert_eq!(listed(&data).expect("a list"), [project.as_path()]);
    assert_eq!(in_force(&data).expect("a list"), [project.as_path()]);
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join(NAME))), (0o700, 0o600));
    assert_eq!(fs::read_dir(&data).expect("the directory").count(), 1, "no draft stays behind");
}

#[test]
fn what_is_removed_is_gone_even_if_its_directory_went_first() {
    let (root, data, project) = place();
    let other = root.path().canonicalize().expect("canonical").join("other");
    fs::create_dir(&other).expect("another");
    add(&data, &project).expect("trusted");
    add(&data, &other).expect("trusted");
    fs::remove_dir(&project).expect("removed");
    assert_eq!(in_force(&data).expect("a list"), [other.as_path()]);
    assert_eq!(remove(&data, &project).expect("removed"), project);
    assert_eq!(remove(&data, &other).expect("removed"), other);
    let error = remove(&data, &other).expect_err("not there").to_string();
    assert_eq!(error, format!("{} is not in the list; `agena trust --list` shows what is", other.display()));
}

#[test]
fn a_name_that_leads_elsewhere_now_is_not_trusted() {
    let (root, data, project) = place();
    add(&data, &project).expect("trusted");
    fs::rename(&project, root.path().join("moved")).expect("moved");
    let hostile = root.path().join("hostile");
    fs::create_dir(&hostile).expect("a directory");
    symlink(&hostile, &project).expect("a symlink");
    assert_eq!(listed(&data).expect("a list"), [project.as_path()]);
    assert_eq!(in_force(&data).expect("a list"), Vec::<PathBuf>::new());
    assert_eq!(remove(&data, &project).expect("removed"), project);
}

#[test]
fn what_is_no_directory_cannot_be_trusted() {
    let (root, data, _) = place();
    let (file, strange) = (root.path().join("file"), root.path().join("a\nb"));
    fs::write(&file, "").expect("a file");
    fs::create_dir(&strange).expect("a directory");
    for (given, part) in [
        (&root.path().join("none"), "name a directory that exists"),
        (&file, "name a directory that exists"),
        (&strange, "not plain text on one line"),
    ] {
        let error = add(&data, given).expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(!data.exists(), "nothing was written");
}

#[test]
fn a_list_that_others_can_change_or_that_is_none_is_refused() {
    let (_root, data, project) = place();
    add(&data, &project).expect("trusted");
    let list = data.join(NAME);
    fs::set_permissions(&list, fs::Permissions::from_mode(0o620)).expect("the mode");
    let error = in_force(&data).expect_err("refused").to_string();
    assert!(error.starts_with("others can change") && error.contains("chmod 600"), "{error}");
    fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).expect("the mode");
    fs::write(&list, "/a\n\nb\n").expect("a list");
    let error = in_force(&data).expect_err("refused").to_string();
    assert_eq!(error, format!("{}:3: not an absolute path; delete the line", list.display()));
}
