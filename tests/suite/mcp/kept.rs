//! Servers are kept inside: what they are given is theirs alone, and nobody but the operator opens a directory for them.

use std::path::Path;

use agena::domain::mcp::{Spec, State, Way};
use agena::mcp::{Hub, Options};
use agena::sandbox::landlock::{Confinement, Support, support};
use serde_json::{Value, json};

use super::kit::{FAKE, crew, hub, names, options, place, run, spec};

#[tokio::test(flavor = "multi_thread")]
async fn its_variables_are_not_those_of_its_supervisor() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("fake", "")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let told = run(&crew, "mcp_fake_variables", json!({})).await.unwrap().told;
    assert!(told.split_whitespace().any(|name| name == "FAKE_KEY"), "{told}");
    let parent = run(&crew, "mcp_fake_parent", json!({})).await.unwrap().told;
    let parent: u32 = parent.lines().nth(1).unwrap().parse().unwrap();
    for what in ["environ", "cmdline"] {
        let seen = std::fs::read(format!("/proc/{parent}/{what}")).unwrap();
        let seen = String::from_utf8_lossy(&seen);
        assert!(!seen.is_empty() && !seen.contains("FAKE_KEY") && !seen.contains("k3y"), "{what}: {seen}");
    }
}

/// A hub that trusts a workspace whose file names one server.
fn trusting(workspace: &Path, server: Value, confinement: Option<Confinement>) -> Hub {
    std::fs::create_dir_all(workspace.join(".agena")).unwrap();
    let written = json!({"mcpServers": {"near": server}}).to_string();
    std::fs::write(workspace.join(".agena/mcp.json"), written).unwrap();
    let mut options = Options { trusted: vec![workspace.to_owned()], ..options(workspace, vec![]) };
    options.launcher.confinement = confinement;
    Hub::new(options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_opens_no_directory_by_running_a_server_there() {
    let (workspace, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(workspace.path().join("below")).unwrap();
    std::os::unix::fs::symlink(outside.path(), workspace.path().join("link")).unwrap();
    for (cwd, runs) in [("below", true), ("link", false), ("..", false), ("/", false)] {
        let server = json!({"command": "python3", "args": [FAKE], "cwd": cwd});
        let hub = trusting(workspace.path(), server, None);
        let crew = crew(&hub, &place(&workspace));
        let names = names(&crew).await;
        assert_eq!(names.contains(&"mcp_near_echo".to_owned()), runs, "{cwd}: {:?}", crew.status());
    }
    assert!(workspace.path().join("below/starts").exists() && !outside.path().join("starts").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_workspace_starts_may_change_the_workspace_and_nothing_else() {
    if !matches!(support(), Support::Landlock(_)) {
        return;
    }
    let (workspace, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(workspace.path().join("below")).unwrap();
    let script = format!("touch {}/out; touch ../in; exec python3 {FAKE}", outside.path().display());
    let server = json!({"command": "sh", "args": ["-c", script], "cwd": "below"});
    let hub = trusting(workspace.path(), server, Some(Confinement::default()));
    let crew = crew(&hub, &place(&workspace));
    assert!(names(&crew).await.contains(&"mcp_near_echo".to_owned()), "{:?}", crew.status());
    assert!(workspace.path().join("in").exists() && !outside.path().join("out").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_own_directory_may_not_hold_what_is_hidden() {
    let (workspace, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let hidden = home.path().join("keys");
    std::fs::create_dir_all(hidden.join("inner")).unwrap();
    for (directory, word) in [(home.path().to_owned(), "would open"), (hidden.join("inner"), "would open")] {
        let Way::Command { program, arguments, environment, .. } = spec("fake", "").way else { panic!() };
        let way = Way::Command { program, arguments, environment, directory: Some(directory) };
        let fake = Spec { confined: true, way, ..spec("fake", "") };
        let mut options = options(workspace.path(), vec![fake]);
        options.launcher.confinement = Some(Confinement { write: vec![], hide: vec![hidden.clone()] });
        let hub = Hub::new(options).unwrap();
        let crew = crew(&hub, &place(&workspace));
        assert!(names(&crew).await.is_empty());
        let status = &crew.status()[0];
        assert!(status.state == State::Failed && status.problems[0].contains(word), "{status:?}");
    }
}
