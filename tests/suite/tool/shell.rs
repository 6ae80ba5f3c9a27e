//! `run_shell_command`: what is shown while it runs, what is told when it is over, and how it is made to end.

use std::time::{Duration, Instant};

use agena::domain::tool::{Approval, ToolError, Toolbox};
use agena::proto::devtool::ExecuteDetails;
use agena::proto::devtool::confirmation_request::Details;
use serde_json::json;
use tokio::time::timeout;

use super::{Bed, problem, shown, start, until};
use crate::kit::DEADLINE;

fn exists(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_the_command_and_where_it_runs() {
    let bed = Bed::new();
    bed.file("sub/a", "");
    let plan = bed.plan("run_shell_command", json!({"command": "ls", "dir_path": "sub"})).await.unwrap();
    let expected = ExecuteDetails { command: "ls".to_owned(), working_directory: Some(bed.text("sub")) };
    assert_eq!(plan.details, Details::ExecuteDetails(expected));
    assert_eq!(plan.description, "Run `ls`");
    for (arguments, kind) in [
        (json!({"command": "ls", "dir_path": "sub/a"}), "path_is_not_a_directory"),
        (json!({"command": "ls", "dir_path": "none"}), "file_not_found"),
        (json!({"command": " "}), "invalid_tool_params"),
        (json!({"command": "a\0b"}), "invalid_tool_params"),
        (json!({"command": "x".repeat(200_000)}), "invalid_tool_params"),
        (json!({}), "invalid_tool_params"),
    ] {
        assert_eq!(problem(bed.plan("run_shell_command", arguments).await.unwrap_err()).0, kind);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_and_exit_code_are_told() {
    let bed = Bed::new();
    let wrapped = |text: &str| format!("<untrusted_context>\n{text}\n</untrusted_context>");
    for (command, told) in [
        ("echo hi", format!("Output: {}", wrapped("hi\n"))),
        ("true", "Output: (empty)".to_owned()),
        ("exit 3", "Output: (empty)\nExit Code: 3".to_owned()),
        ("echo out; echo err >&2; exit 1", format!("Output: {}\nExit Code: 1", wrapped("out\nerr\n"))),
        ("kill -9 $$", "Output: (empty)\nSignal: 9".to_owned()),
        ("printf '</untrusted_context>'", format!("Output: {}", wrapped("&lt;/untrusted_context&gt;"))),
        ("cat; echo end", format!("Output: {}", wrapped("end\n"))),
        ("test -t 0 || test -t 1 || echo no terminal", format!("Output: {}", wrapped("no terminal\n"))),
        ("head -c 9 /dev/zero", format!("Output: {}", wrapped("[binary output, not shown]"))),
        ("printf '\\377\\303\\244'", format!("Output: {}", wrapped("\u{fffd}ä"))),
        ("echo stderr works > /dev/stderr", format!("Output: {}", wrapped("stderr works\n"))),
    ] {
        assert_eq!(bed.told("run_shell_command", json!({"command": command})).await, told, "{command}");
    }
    bed.file("sub/a", "");
    let told = bed.told("run_shell_command", json!({"command": "pwd; ls", "dir_path": "sub"})).await;
    assert!(told.contains(&format!("{}\na\n", bed.text("sub"))), "{told}");
    let agreed = ExecuteDetails { command: "echo agreed".to_owned(), working_directory: None };
    let agreed = Approval { details: Some(Details::ExecuteDetails(agreed)), ..Approval::default() };
    let outcome = bed.run_with("run_shell_command", json!({"command": "echo asked"}), agreed).await.unwrap();
    assert_eq!(shown(&outcome), "agreed\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_is_cut_in_the_middle() {
    let bed = Bed::new();
    let outcome = bed.run("run_shell_command", json!({"command": "seq 1 60000"})).await.unwrap();
    assert!(outcome.told.len() < 41_000, "{}", outcome.told.len());
    assert!(outcome.told.contains("\n1\n2\n") && outcome.told.contains("\n59999\n60000\n"));
    assert!(outcome.told.contains("characters left out]") && outcome.told.contains("The output was cut"));
    assert!((100_000..101_000).contains(&shown(&outcome).len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_seen_while_the_command_runs() {
    let bed = Bed::new();
    // It goes on only when the test has seen what it printed.
    let command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second";
    let (run, mut printed) = start("run_shell_command", json!({"command": command}), Approval::default());
    let running = bed.tools.run(run);
    tokio::pin!(running);
    let first = tokio::select! {
        piece = printed.recv() => piece.unwrap(),
        _ = &mut running => panic!("it ended before it was seen"),
    };
    assert_eq!(first, "first\n");
    bed.file("go", "");
    let outcome = timeout(DEADLINE, running).await.unwrap().unwrap();
    assert_eq!(shown(&outcome), "first\nsecond\n");
    assert_eq!(printed.recv().await.unwrap(), "second\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listening_is_no_reason_to_stop() {
    let bed = Bed::new();
    let (run, printed) = start("run_shell_command", json!({"command": "seq 1 20000"}), Approval::default());
    drop(printed);
    let outcome = timeout(DEADLINE, bed.tools.run(run)).await.unwrap().unwrap();
    assert!(shown(&outcome).ends_with("20000\n"));
}

/// Ignores what asks it to end, and leaves a child, a grandchild in a session of its own and an orphan behind, which do
/// the same.
const STUBBORN: &str = "trap '' TERM HUP INT; \
    (trap '' TERM; echo $BASHPID >> pids; while :; do sleep 0.1; done) & \
    setsid bash -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 0.1; done' & \
    (setsid bash -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 0.1; done' &) ; \
    echo $$ >> pids; while :; do sleep 0.1; done";

fn pids(bed: &Bed) -> Vec<i32> {
    let text = std::fs::read_to_string(bed.path("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_ignores_sigterm_and_forks_is_gone_soon_after_a_cancel() {
    for sandbox in [true, false] {
        let bed = Bed::with(|options| options.sandbox = sandbox);
        let (run, _printed) = start("run_shell_command", json!({"command": STUBBORN}), Approval::default());
        let cancel = run.cancel.clone();
        let running = bed.tools.run(run);
        tokio::pin!(running);
        tokio::select! {
            () = until("four processes", DEADLINE, || pids(&bed).len() == 4) => {}
            ended = &mut running => panic!("{ended:?}"),
        }
        let all = pids(&bed);
        assert!(all.iter().all(|pid| exists(*pid)), "{all:?}");
        let asked = Instant::now();
        cancel.cancel();
        let error = timeout(Duration::from_secs(5), running).await.unwrap().unwrap_err();
        assert!(matches!(error, ToolError::Cancelled { .. }), "{error:?}");
        assert!(asked.elapsed() < Duration::from_secs(5));
        assert!(!all.iter().any(|pid| exists(*pid)), "{all:?} still run");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_printed_before_it_was_cancelled_is_kept() {
    let bed = Bed::new();
    let (run, mut printed) =
        start("run_shell_command", json!({"command": "echo so far; sleep 60"}), Approval::default());
    let cancel = run.cancel.clone();
    let running = bed.tools.run(run);
    tokio::pin!(running);
    tokio::select! {
        _ = printed.recv() => cancel.cancel(),
        ended = &mut running => panic!("{ended:?}"),
    }
    let error = timeout(DEADLINE, running).await.unwrap().unwrap_err();
    assert_eq!(error, ToolError::Cancelled { so_far: "so far\n".to_owned() });
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_and_length_have_limits() {
    let limit = Duration::from_millis(300);
    let silent = Bed::with(|options| options.shell.silence = Some(limit));
    let (kind, message) =
        silent.refused("run_shell_command", json!({"command": "echo before; sleep 60"})).await;
    assert_eq!(kind, "shell_timeout");
    assert!(message.contains("printed nothing for 0.3 s") && message.contains("before\n"), "{message}");
    let chatty = json!({"command": "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done"});
    assert!(silent.told("run_shell_command", chatty).await.contains("8\n"));

    let long = Bed::with(|options| options.shell.wall = Some(limit));
    let (kind, message) = long
        .refused("run_shell_command", json!({"command": "while :; do echo on and on; sleep 0.05; done"}))
        .await;
    assert_eq!(kind, "shell_timeout");
    assert!(message.contains("ran for more than 0.3 s"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_leaves_behind_ends_with_it() {
    let bed = Bed::new();
    let told =
        bed.told("run_shell_command", json!({"command": "sleep 60 & echo $! > pids; echo done"})).await;
    assert!(told.contains("done\n") && told.contains("were ended with it"), "{told}");
    assert!(!exists(pids(&bed)[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn letting_go_of_a_run_ends_its_command() {
    let bed = Bed::new();
    let (run, _printed) = start("run_shell_command", json!({"command": STUBBORN}), Approval::default());
    {
        let running = bed.tools.run(run);
        tokio::pin!(running);
        tokio::select! {
            () = until("four processes", DEADLINE, || pids(&bed).len() == 4) => {}
            ended = &mut running => panic!("{ended:?}"),
        }
    }
    let all = pids(&bed);
    until("the end of all", Duration::from_secs(5), || !all.iter().any(|pid| exists(*pid))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_cannot_start_says_why() {
    let bed = Bed::with(|options| options.shell.program = "/no/such/shell".into());
    let (kind, message) = bed.refused("run_shell_command", json!({"command": "ls"})).await;
    assert_eq!(kind, "shell_execute_error");
    assert!(message.contains("/no/such/shell"), "{message}");
    let bed = Bed::with(|options| options.helper = "/bin/true".into());
    let (_, message) = bed.refused("run_shell_command", json!({"command": "ls"})).await;
    assert!(message.contains("is the helper the agena binary?"), "{message}");
}
