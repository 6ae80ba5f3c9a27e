//! What the files of a workspace tell every model, and that they tell nothing where nobody trusts them.

use std::fs;
use std::os::unix::fs::symlink;

use agena::domain::tool::Toolbox;
use agena::proto::devtool::AgentSettings;
use agena::tool::{Bench, Options};

/// A workspace, the directories that are trusted, and what is read.
type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

#[test]
fn memory_comes_from_the_repository_and_only_from_trusted_directories() {
    let place = tempfile::tempdir().unwrap();
    let top = place.path().canonicalize().unwrap();
    let root = top.join("root");
    fs::create_dir_all(root.join("repo/.git")).unwrap();
    fs::create_dir_all(root.join("repo/a/b")).unwrap();
    fs::create_dir_all(root.join("plain/a")).unwrap();
    for (name, text) in [
        ("GEMINI.md", "above the root"),
        ("root/GEMINI.md", "the root"),
        ("root/repo/GEMINI.md", "repo"),
        ("root/repo/a/AGENTS.md", "a"),
        ("root/repo/a/b/GEMINI.md", "b"),
        ("root/repo/a/b/AGENTS.md", " \n"),
        ("root/plain/GEMINI.md", "plain"),
        ("root/plain/a/GEMINI.md", "plain a"),
    ] {
        fs::write(top.join(name), text).unwrap();
    }
    symlink(top.join("GEMINI.md"), root.join("plain/a/AGENTS.md")).unwrap();
    let memory = |workspace: &str, trusted: &[&str]| {
        let trusted = trusted.iter().map(|path| top.join(path)).collect();
        let bench = Bench::new(Options { trusted, ..Options::new(root.clone(), "/nowhere".into()) }).unwrap();
        let workspace_path = root.join(workspace).to_str().unwrap().to_owned();
        let tools = bench.tools(&AgentSettings { workspace_path, ..Default::default() }).unwrap();
        let found = tools.memory();
        found
            .into_iter()
            .map(|(path, text)| (path[root.to_str().unwrap().len() + 1..].to_owned(), text))
            .collect()
    };
    let found = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    };
    let cases: [Case; 7] = [
        ("repo/a/b", &[], &[]),
        ("repo/a/b", &["elsewhere", "root/plain"], &[]),
        (
            "repo/a/b",
            &["root/repo"],
            &[("repo/GEMINI.md", "repo"), ("repo/a/AGENTS.md", "a"), ("repo/a/b/GEMINI.md", "b")],
        ),
        ("repo/a/b", &["root/repo/a"], &[("repo/a/AGENTS.md", "a"), ("repo/a/b/GEMINI.md", "b")]),
        ("repo/a/b", &["root/rep"], &[]),
        ("repo", &["root"], &[("repo/GEMINI.md", "repo")]),
        ("plain/a", &["root"], &[("plain/a/GEMINI.md", "plain a")]),
    ];
    for (workspace, trusted, expected) in cases {
        let got: Vec<(String, String)> = memory(workspace, trusted);
        assert_eq!(got, found(expected), "{workspace} with {trusted:?}");
    }
}
