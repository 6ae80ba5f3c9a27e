//! Killed while a tool is at work, or while an answer is taken: what was done is never done again, what was approved is
//! not forgotten, and no task is stuck.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::Running;
use super::{client, read};

/// Asks before the command, so that each run has a decision in it.
const SCRIPT: &str = "rules:\n- when: {text: ask}\n  do: [ask: 'Which?']\n\
    - when: {text: blue}\n  do: [wait: 10ms, complete: done]\n\
    - do: [{call: {tool: run_shell_command, with: {command: 'echo x >> ran'}}}, say: 'It was: {result}']\n";
const OPTIONS: [&str; 4] = ["--auth", "none", "--rehearsal", "script.yaml"];
const MOST: usize = 60;

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("script.yaml"), SCRIPT).unwrap();
    home
}

fn ran(home: &std::path::Path) -> usize {
    std::fs::read_to_string(home.join("workspace/ran")).unwrap_or_default().lines().count()
}

async fn say(url: &str, id: &str, task: &str, text: &str) -> Vec<(u64, Value)> {
    let message = json!({"messageId": id, "role": "ROLE_USER", "taskId": task, "parts": [{"text": text}]});
    read(client().post(format!("{url}/message:stream")).json(&json!({"message": message}))).await
}

fn state((_, event): &(u64, Value)) -> String {
    let status =
        event.get("statusUpdate").or_else(|| event.get("task")).map(|event| &event["status"]["state"]);
    status.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Every task, as it is when nothing happens any more.
async fn settled(url: &str) -> Vec<Value> {
    let deadline = std::time::Instant::now() + super::DEADLINE;
    loop {
        let list = client().get(format!("{url}/tasks?historyLength=20")).send().await.unwrap();
        let list: Value = serde_json::from_str(&list.text().await.unwrap()).unwrap();
        let tasks = list["tasks"].as_array().cloned().unwrap_or_default();
        let busy = |task: &Value| {
            ["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"]
                .contains(&task["status"]["state"].as_str().unwrap())
        };
        if !tasks.iter().any(busy) {
            return tasks;
        }
        assert!(std::time::Instant::now() < deadline, "a task is stuck: {tasks:?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Asks, approves, and is killed at some point of it. True if the point was not reached.
async fn approve_and_die(point: &str) -> (bool, TempDir) {
    let server = Running::try_start(home(), &OPTIONS, &[("AGENA_FAILPOINT", point)]);
    let mut server = match server {
        Ok(server) => server,
        Err(home) => return (false, home),
    };
    let asked = say(&server.url, "go", "", "go").await;
    let task = asked.first().map(|(_, first)| first["task"]["id"].as_str().unwrap().to_owned());
    let mut through = false;
    if let Some(task) = task {
        let done = say(&server.url, "yes", &task, "yes").await;
        through = done.last().is_some_and(|last| state(last) == "TASK_STATE_COMPLETED");
    }
    let died = server.child.try_wait().unwrap().is_some() || !through;
    (!died, server.into_home())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_an_effect_and_its_record_it_is_reported_and_never_done_again() {
    for (point, times) in [("after-effect:1", 1), ("before-start:1", 0)] {
        let (through, home) = approve_and_die(point).await;
        assert!(!through, "{point}");
        assert_eq!(ran(home.path()), times, "{point}");
        let server = Running::start_in(home, &OPTIONS);
        let tasks = settled(&server.url).await;
        let task = &tasks[0];
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{point}: {task}");
        let said = task["history"].as_array().unwrap().last().unwrap()["parts"][0]["text"].clone();
        assert!(said.as_str().unwrap().contains("is not known"), "{point}: the model was told: {said}");
        let home = server.into_home();
        assert_eq!(ran(home.path()), times, "{point}: it was run again");
        let server = Running::start_in(home, &OPTIONS);
        settled(&server.url).await;
        assert_eq!(ran(server.into_home().path()), times, "{point}: it was run again");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_step_of_an_approved_command_it_runs_at_most_once_and_nothing_is_stuck() {
    for step in ["before-commit", "after-commit", "before-reply"] {
        let mut through = false;
        for k in 1..MOST {
            let point = format!("{step}:{k}");
            let (got_through, home) = approve_and_die(&point).await;
            through = got_through;
            if through {
                break;
            }
            let server = Running::start_in(home, &OPTIONS);
            for task in settled(&server.url).await {
                if task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED" {
                    let id = task["id"].as_str().unwrap();
                    let again = say(&server.url, "yes", id, "yes").await;
                    assert_eq!(again.last().map(state).as_deref(), Some("TASK_STATE_COMPLETED"), "{point}");
                }
            }
            let ended = settled(&server.url).await;
            let home = server.into_home();
            assert!(ran(home.path()) <= 1, "{point}: run twice");
            for task in ended {
                let state = task["status"]["state"].as_str().unwrap();
                assert!(["TASK_STATE_COMPLETED", "TASK_STATE_FAILED"].contains(&state), "{point}: {task}");
                assert!(task["id"].is_string() && task["contextId"].is_string(), "{point}: {task}");
            }
        }
        assert!(through, "{step}: still killed at the {MOST}th step");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_taken_is_worked_on_after_a_kill() {
    for k in 1..MOST {
        let point = format!("after-commit:{k}");
        let Ok(mut server) = Running::try_start(home(), &OPTIONS, &[("AGENA_FAILPOINT", &point)]) else {
            continue;
        };
        let asked = say(&server.url, "q", "", "ask").await;
        let Some(task) = asked.first().map(|(_, first)| first["task"]["id"].as_str().unwrap().to_owned())
        else {
            continue;
        };
        let answered = say(&server.url, "a", &task, "blue").await;
        if server.child.try_wait().unwrap().is_none()
            && answered.last().map(state).as_deref() == Some("TASK_STATE_COMPLETED")
        {
            return;
        }
        let server = Running::start_in(server.into_home(), &OPTIONS);
        let tasks = settled(&server.url).await;
        let task = &tasks[0];
        let heard = task["history"].as_array().is_some_and(|history| history.len() > 1);
        let state = task["status"]["state"].as_str().unwrap();
        assert!(task["id"].is_string(), "{point}: {task}");
        assert!(
            !heard || state != "TASK_STATE_INPUT_REQUIRED",
            "{point}: what was answered is forgotten: {task}"
        );
    }
    panic!("still killed at the {MOST}th step");
}
