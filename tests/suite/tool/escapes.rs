//! Paths that lead out of the workspace, in every way that is known: each is refused, by every tool, and nothing outside
//! is read or touched.

use std::fs;
use std::os::unix::fs::symlink;

use agena::domain::tool::Toolbox;
use serde_json::json;

use super::{Bed, problem};

/// Ways out for paths, with the outside in them where they need it.
fn ways(bed: &Bed) -> Vec<String> {
    let outside = bed.outside();
    let outside = outside.to_str().unwrap();
    let ws = bed.tools.workspace().to_owned();
    let link = |name: &str, to: &str| symlink(to, bed.path(name)).unwrap();
    link("absolute", outside);
    link("absolute-file", &format!("{outside}/secret"));
    link("climbing", "../../outside");
    link("chain", "absolute");
    link("root", "/");
    link("proc", "/proc/self/root");
    link("self", &ws);
    fs::create_dir(bed.path("deep")).unwrap();
    link("deep/up", "../../../outside");
    let mut ways: Vec<String> = [
        "absolute/secret",
        "absolute-file",
        "climbing/secret",
        "chain/secret",
        "deep/up/secret",
        "../../outside/secret",
        "deep/../../../outside/secret",
        "./../../outside/secret",
        "..",
        "../ws2",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "~/secret",
        "a\0b",
        "",
        " ",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "@../../outside/secret",
        "@/etc/passwd",
        "@absolute/secret",
    ]
    .map(str::to_owned)
    .into();
    ways.extend([
        format!("{outside}/secret"),
        format!("{ws}/../../outside/secret"),
        format!("{ws}/absolute/secret"),
        format!("{ws}2/secret"),
        format!("/proc/self/root{outside}/secret"),
        format!("/proc/self/cwd/../{outside}"),
        format!("root{outside}/secret"),
        format!("proc{outside}/secret"),
        format!("file://{outside}/secret"),
    ]);
    ways
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_out() {
    let bed = Bed::new();
    for way in ways(&bed) {
        for (tool, arguments) in [
            ("read_file", json!({"file_path": way})),
            ("list_directory", json!({"dir_path": way})),
            ("write_file", json!({"file_path": way, "content": "written"})),
            ("write_file", json!({"file_path": format!("{}/new", way.trim()), "content": "written"})),
            (
                "replace",
                json!({"file_path": way, "instruction": "i", "old_string": "the secret", "new_string": "written"}),
            ),
            ("glob", json!({"pattern": "*", "dir_path": way})),
            ("grep_search", json!({"pattern": "secret", "dir_path": way})),
            ("run_shell_command", json!({"command": "cat secret", "dir_path": way})),
        ] {
            let refused = bed.refused(tool, arguments.clone()).await;
            let (kind, message) = &refused;
            assert_eq!(*kind, "path_not_in_workspace", "{tool} {way:?}: {message}");
            assert!(message.contains(bed.tools.workspace()), "{tool} {way:?}: {message}");
            if !matches!(tool, "read_file" | "list_directory" | "glob" | "grep_search") {
                let planned = problem(bed.plan(tool, arguments).await.unwrap_err());
                assert_eq!(planned.0, "path_not_in_workspace", "{tool} {way:?}");
            }
        }
    }
    let outside: Vec<_> = fs::read_dir(bed.outside()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(outside, ["secret"]);
    assert_eq!(fs::read_to_string(bed.outside().join("secret")).unwrap(), "the secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_do_not_follow_symlinks_out() {
    let bed = Bed::new();
    ways(&bed);
    bed.file("own.txt", "a secret of its own");
    let glob = bed.told("glob", json!({"pattern": "**/*"})).await;
    assert!(glob.contains("own.txt") && !glob.contains("/secret"), "{glob}");
    let grep = bed.told("grep_search", json!({"pattern": "secret"})).await;
    assert!(grep.contains("a secret of its own") && !grep.contains("the secret"), "{grep}");
    let many = bed.told("read_many_files", json!({"include": ["**"], "useDefaultExcludes": false})).await;
    assert!(many.contains("a secret of its own") && !many.contains("the secret"), "{many}");
    for pattern in ["../**", "/etc/*", "a/../../**"] {
        assert_eq!(bed.refused("glob", json!({"pattern": pattern})).await.0, "path_not_in_workspace");
        assert_eq!(
            bed.refused("read_many_files", json!({"include": [pattern]})).await.0,
            "path_not_in_workspace"
        );
    }
    let list = bed.told("list_directory", json!({"dir_path": "."})).await;
    assert!(list.contains("absolute (symlink)"), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn symlinks_that_stay_inside_work_and_those_that_lead_nowhere_are_not_written_through() {
    let bed = Bed::new();
    bed.file("real/a.txt", "a");
    symlink("real/a.txt", bed.path("way")).unwrap();
    symlink("real", bed.path("dir")).unwrap();
    assert_eq!(bed.told("read_file", json!({"file_path": "way"})).await, "a");
    bed.run("write_file", json!({"file_path": "way", "content": "b"})).await.unwrap();
    assert_eq!(bed.content("real/a.txt"), "b");
    assert!(bed.path("way").is_symlink(), "the symlink was replaced");
    bed.run("write_file", json!({"file_path": "dir/new.txt", "content": "n"})).await.unwrap();
    assert_eq!(bed.content("real/new.txt"), "n");

    let target = bed.outside().join("not-yet");
    symlink(&target, bed.path("dangling")).unwrap();
    symlink("not-yet", bed.path("dangling-inside")).unwrap();
    let refused = bed.refused("write_file", json!({"file_path": "dangling", "content": "x"})).await;
    assert_eq!(refused.0, "path_not_in_workspace");
    let refused = bed.refused("write_file", json!({"file_path": "dangling-inside", "content": "x"})).await;
    assert_eq!(refused.0, "file_not_found");
    assert!(!target.exists() && !bed.path("not-yet").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn hard_links_pipes_and_odd_names_do_no_harm() {
    let bed = Bed::new();
    fs::hard_link(bed.outside().join("secret"), bed.path("linked")).unwrap();
    bed.run("write_file", json!({"file_path": "linked", "content": "mine"})).await.unwrap();
    assert_eq!(fs::read_to_string(bed.outside().join("secret")).unwrap(), "the secret");

    let made = std::process::Command::new("mkfifo").arg(bed.path("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(bed.refused("read_file", json!({"file_path": "pipe"})).await.0, "read_content_failure");
    bed.told("grep_search", json!({"pattern": "x"})).await;

    for name in ["%2e%2e", "..%2f..%2foutside", "a\\..\\b", "...", "-rf", "$(touch x)", "ünïcode", "a\nb"] {
        bed.run("write_file", json!({"file_path": name, "content": name})).await.unwrap();
        assert_eq!(bed.content(name), name);
    }
    let long = "n".repeat(300);
    let refused = bed.refused("write_file", json!({"file_path": long, "content": ""})).await;
    assert!(refused.1.contains("too long"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_lies_under_the_root() {
    use agena::domain::tool::Workshop;
    use agena::proto::devtool::AgentSettings;
    use agena::tool::{Bench, Options};

    let bed = Bed::new();
    let root = bed.path("").parent().unwrap().to_owned();
    fs::write(root.join("file"), "").unwrap();
    symlink(bed.outside(), root.join("away")).unwrap();
    symlink(root.join("ws"), root.join("alias")).unwrap();
    let options = Options::new(root.clone(), "/nowhere".into());
    let bench = Bench::new(Options { default_workspace: Some(root.join("ws")), ..options.clone() }).unwrap();
    let open = |bench: &Bench, path: &str| {
        let settings = AgentSettings { workspace_path: path.to_owned(), ..Default::default() };
        bench.open(&settings).map(|tools| tools.workspace().to_owned())
    };
    let text = |name: &str| root.join(name).to_str().unwrap().to_owned();
    assert_eq!(open(&bench, &text("ws")).unwrap(), text("ws"));
    assert_eq!(open(&bench, &text("alias")).unwrap(), text("ws"));
    assert_eq!(open(&bench, "").unwrap(), text("ws"));
    assert_eq!(open(&bench, root.to_str().unwrap()).unwrap(), root.to_str().unwrap());
    let bad = [
        text("away"),
        text("file"),
        text("missing"),
        text("ws/../.."),
        "ws".into(),
        "/".into(),
        "/\0".into(),
    ];
    for path in bad {
        let error = open(&bench, &path).unwrap_err();
        assert_eq!(error.field, "workspace_path", "{path}: {error}");
    }
    fs::create_dir_all(root.join("data/deep")).unwrap();
    fs::write(root.join("data/token"), "").unwrap();
    let own = Bench::new(Options { hidden: vec![root.join("data/token")], ..options.clone() }).unwrap();
    for path in [root.to_str().unwrap(), &text("data")] {
        let problem = open(&own, path).unwrap_err().problem;
        assert!(problem.contains("the server's own files"), "{problem}");
    }
    assert!(open(&own, &text("data/deep")).is_ok() && open(&own, &text("ws")).is_ok());
    assert!(open(&Bench::new(options).unwrap(), "").unwrap_err().problem.contains("is missing"));
}
