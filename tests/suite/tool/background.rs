//! Commands in the background: handles that can be listed, read and ended, and that end with their workspace.

use std::time::Duration;

use serde_json::json;

use super::{Bed, until};

fn pid(told: &str) -> i32 {
    let (_, rest) = told.split_once("PID ").unwrap();
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

fn exists(pid: i32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_process_is_listed_read_and_ended() {
    let bed = Bed::new();
    assert_eq!(bed.told("list_background_processes", json!({})).await, "No background processes.");
    let command = "trap '' TERM; echo ready; while [ ! -e go ]; do sleep 0.01; done; echo went; sleep 60";
    let told = bed
        .told("run_shell_command", json!({"command": command, "is_background": true, "delay_ms": 500}))
        .await;
    assert!(told.contains("it is running") && told.contains("ready\n"), "{told}");
    let pid = pid(&told);
    let list = bed.told("list_background_processes", json!({})).await;
    assert_eq!(list, format!("[PID {pid}] running: {command}"));
    bed.file("go", "");
    let mut last = String::new();
    for _ in 0..100 {
        last = bed.told("read_background_output", json!({"pid": pid, "lines": 1, "delay_ms": 50})).await;
        if last.contains("went") {
            break;
        }
    }
    assert!(last.contains("went") && !last.contains("ready"), "{last}");
    assert_eq!(
        bed.told("kill_background_process", json!({"pid": pid})).await,
        format!("Process {pid} is gone.")
    );
    assert!(!exists(pid));
    let list = bed.told("list_background_processes", json!({})).await;
    assert!(list.starts_with(&format!("[PID {pid}] ended by signal")), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_ends_by_itself_says_how() {
    let bed = Bed::new();
    let arguments = json!({"command": "echo no; exit 7", "is_background": true, "delay_ms": 5000});
    let told = bed.told("run_shell_command", arguments).await;
    assert!(told.contains("it is exited with 7") && told.contains("no\n"), "{told}");
    let read = bed.told("read_background_output", json!({"pid": pid(&told)})).await;
    assert!(read.contains("is exited with 7"), "{read}");
    for tool in ["read_background_output", "kill_background_process"] {
        let (kind, message) = bed.refused(tool, json!({"pid": 1})).await;
        assert_eq!(kind, "invalid_tool_params");
        assert!(message.contains("no background process"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn they_end_with_their_workspace() {
    let bed = Bed::new();
    let told = bed
        .told(
            "run_shell_command",
            json!({"command": "trap '' TERM; while :; do sleep 0.1; done", "is_background": true}),
        )
        .await;
    let pid = pid(&told);
    assert!(exists(pid));
    drop(bed);
    until("its end", Duration::from_secs(5), || !exists(pid)).await;
}
