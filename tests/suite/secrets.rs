//! What the server must keep to itself: the files with its keys, whatever a confined command tries.

use std::path::Path;
use std::time::Duration;

use agena::sandbox::landlock::support;
use serde_json::{Value, json};

use crate::kit::process::{Running, agena, output};
use crate::kit::{away, http};

const KEY: &str = "key-of-ann-0123456789-0123456789";
const FILED: &str = "key-of-bob-0123456789-0123456789";

fn settings(directory: &Path) {
    let keys =
        format!("auth.keys = [{{name = 'ann', key = '{KEY}'}}, {{name = 'bob', key_file = 'bob.key'}}]\n");
    std::fs::write(directory.join("own.toml"), keys).unwrap();
    std::fs::write(directory.join("bob.key"), FILED).unwrap();
    std::fs::write(directory.join("notes.txt"), "nothing secret").unwrap();
}

/// All that the server says about a command.
async fn ran(server: &Running, command: &str) -> String {
    let message =
        json!({"messageId": command, "role": "ROLE_USER", "parts": [{"text": format!("run {command}")}]});
    let post = http().post(format!("{}/message:send", server.url)).bearer_auth(KEY);
    let answer =
        post.timeout(Duration::from_secs(30)).json(&json!({"message": message})).send().await.unwrap();
    let task: Value = answer.json().await.unwrap();
    assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{task}");
    task.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confined_command_does_not_read_the_keys_of_the_server() {
    if !support().is_there() {
        println!("skipped: this kernel has no Landlock");
        return;
    }
    let home = away();
    settings(home.path());
    // A link is no way around.
    std::os::unix::fs::symlink("own.toml", home.path().join("link.toml")).unwrap();
    let server = Running::start_in(home, &["--config", "link.toml", "--approval-mode", "yolo"]);
    let at = |name: &str| server.home().join(name).display().to_string();
    for name in ["own.toml", "link.toml", "bob.key"] {
        let said = ran(&server, &format!("cat {}", at(name))).await;
        assert!(said.contains("Permission denied"), "{name}: {said}");
        assert!(!said.contains(KEY) && !said.contains(FILED), "{name}: {said}");
    }
    let said = ran(&server, &format!("cat {}", at("notes.txt"))).await;
    assert!(said.contains("nothing secret"), "what lies beside it can be read: {said}");
}

#[test]
fn no_file_of_the_server_lies_in_its_workspace() {
    let elsewhere = "auth.keys = [{name = 'bob', key_file = 'workspace/bob.key'}]\n";
    for (config, named) in
        [("workspace/own.toml", "own.toml"), ("elsewhere.toml", "bob.key"), ("link.toml", "own.toml")]
    {
        let home = away();
        let mut command = agena(home.path());
        settings(&home.path().join("workspace"));
        std::fs::write(home.path().join("elsewhere.toml"), elsewhere).unwrap();
        std::os::unix::fs::symlink("workspace/own.toml", home.path().join("link.toml")).unwrap();
        let keys = home.path().join("bob.key");
        std::fs::write(keys, FILED).unwrap();
        let done = output(command.args(["--config", config]));
        let (err, workspace) = (String::from_utf8(done.stderr).unwrap(), home.path().canonicalize().unwrap());
        let file = workspace.join("workspace").join(named);
        assert!(!done.status.success() && err.lines().count() == 1, "{config}: {err}");
        assert!(err.contains(&format!("{} lies in", file.display())), "{config}: {err}");
        assert!(err.contains("move that file elsewhere") && err.contains("--workspace"), "{config}: {err}");
    }
}
