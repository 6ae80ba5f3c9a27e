//! A server that dies, hangs, floods or lies costs the call that met it, and nothing else.

use std::time::{Duration, Instant};

use agena::domain::mcp::{Spec, State, Way};
use agena::domain::tool::ToolError;
use serde_json::json;

use super::kit::{OverHttp, crew, hub, names, place, run, spec};

fn failed(result: Result<agena::domain::tool::Outcome, ToolError>) -> String {
    match result.unwrap_err() {
        ToolError::Failed { kind: "mcp_tool_error", message, .. } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_used_leaves_the_others_alone() {
    let workspace = tempfile::tempdir().unwrap();
    let short = |name: &str, mode: &str| Spec { connect: Duration::from_secs(6), ..spec(name, mode) };
    let modes = ["mute", "gone", "nonsense", "line", "endless", "thousands"];
    let mut servers: Vec<Spec> = modes.iter().map(|mode| short(mode, mode)).collect();
    servers.push(spec("good", ""));
    servers.push(spec("stderr", "stderr"));
    servers.push(Spec {
        way: Way::Command {
            program: "/nowhere/at-all".into(),
            arguments: vec![],
            environment: vec![],
            directory: None,
        },
        ..spec("missing", "")
    });
    let hub = hub(workspace.path(), servers);
    let crew = crew(&hub, &place(&workspace));
    let began = Instant::now();
    let names = names(&crew).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(
        names.contains(&"mcp_good_echo".to_owned()) && names.contains(&"mcp_stderr_echo".to_owned()),
        "{names:?}"
    );
    assert_eq!(
        run(&crew, "mcp_good_echo", json!({"text": "hi"})).await.unwrap().told.lines().nth(1),
        Some("hi")
    );
    let bad = |status: &agena::domain::mcp::ServerStatus| status.state == State::Failed;
    crate::kit::until("every bad one has failed", || crew.status().iter().filter(|s| bad(s)).count() == 7)
        .await;
    for (name, why) in [
        ("mute", "not ready within"),
        ("gone", "nothing to do here"),
        ("nonsense", "does not speak MCP"),
        ("line", "bytes"),
        ("endless", ""),
        ("thousands", "more than 1000 entries"),
        ("missing", "cannot be started"),
    ] {
        let status = crew.status().into_iter().find(|status| status.name == name).unwrap();
        assert!(status.problems.iter().any(|p| p.contains(why)), "{name}: {:?}", status.problems);
        let told = failed(run(&crew, &format!("mcp_{name}_echo"), json!({"text": "x"})).await);
        assert!(told.starts_with(&format!("the MCP server {name}: ")), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lying_list_and_strange_answers_cost_only_themselves() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("liar", "liar"), spec("fake", "")]);
    let crew = crew(&hub, &place(&workspace));
    let names = names(&crew).await;
    let of_liar: Vec<&String> = names.iter().filter(|name| name.starts_with("mcp_liar_")).collect();
    assert_eq!(of_liar, ["mcp_liar_echo", "mcp_liar_no_such_name"]);
    let liar = crew.status().into_iter().find(|status| status.name == "liar").unwrap();
    assert_eq!(liar.problems.len(), 2, "{:?}", liar.problems);
    assert_eq!(failed(run(&crew, "mcp_fake_fail", json!({})).await), "it is not my day");
    assert!(failed(run(&crew, "mcp_fake_weird", json!({})).await).contains("no result of a tool"));
    let big = run(&crew, "mcp_fake_big", json!({})).await.unwrap();
    assert!(big.told.len() < 50_000 && big.told.contains("2960000 characters left out"));
    for (tool, said) in [("garbage", "after garbage"), ("chatter", "after chatter"), ("echo", "x")] {
        let outcome = run(&crew, &format!("mcp_fake_{tool}"), json!({"text": "x"})).await.unwrap();
        assert!(outcome.told.contains(said), "{tool}: {}", outcome.told);
    }
    let picture = run(&crew, "mcp_fake_picture", json!({})).await.unwrap();
    assert_eq!((picture.media.len(), picture.told.contains("seen")), (1, true));
    let wrong = run(&crew, "mcp_fake_echo", json!({"text": 5})).await.unwrap_err();
    assert!(matches!(wrong, ToolError::Failed { kind: "invalid_tool_params", .. }), "{wrong}");
    let gone = run(&crew, "mcp_fake_nothing", json!({})).await.unwrap_err();
    assert!(matches!(gone, ToolError::Failed { kind: "tool_not_registered", .. }), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_unfolds_without_end_is_left_out() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("fake", "unfolds")]);
    let crew = crew(&hub, &place(&workspace));
    let began = Instant::now();
    let names = names(&crew).await;
    assert!(names.contains(&"mcp_fake_echo".to_owned()), "{names:?}");
    let bomb = run(&crew, "mcp_fake_bomb", json!({})).await.unwrap_err();
    assert!(matches!(bomb, ToolError::Failed { kind: "tool_not_registered", .. }), "{bomb}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let problems = &crew.status()[0].problems;
    assert!(problems.len() == 1 && problems[0].contains("\"bomb\" is left out"), "{problems:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_asks_is_answered_and_one_that_does_not_listen_is_let_go() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("fake", ""), spec("deaf", "deaf")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    run(&crew, "mcp_fake_ask", json!({})).await.unwrap();
    let answers = || std::fs::read_to_string(workspace.path().join("answers")).unwrap_or_default();
    crate::kit::until("both were answered", || answers().lines().count() == 2).await;
    let mut heard: Vec<serde_json::Value> =
        answers().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    heard.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!((&heard[0]["result"], &heard[1]["error"]["code"]), (&json!({}), &json!(-32601)), "{heard:?}");
    let deaf = || crew.status().into_iter().find(|status| status.name == "deaf").unwrap();
    crate::kit::until("nobody waits for the deaf one", || deaf().state == State::Failed).await;
    assert!(deaf().problems[0].contains("does not listen"), "{:?}", deaf().problems);
    assert!(run(&crew, "mcp_fake_echo", json!({"text": "hi"})).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_dies_says_why_and_is_started_again_after_a_while() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("fake", "")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let told = failed(run(&crew, "mcp_fake_die", json!({})).await);
    assert!(told.contains("exit code 3") && told.contains("out of ideas"), "{told}");
    let soon = failed(run(&crew, "mcp_fake_echo", json!({"text": "x"})).await);
    assert!(soon.contains("tried again in"), "{soon}");
    let began = Instant::now();
    while let Err(error) = run(&crew, "mcp_fake_echo", json!({"text": "back"})).await {
        assert!(began.elapsed() < Duration::from_secs(10), "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let starts = std::fs::read_to_string(workspace.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 2);
    assert!(crew.reload(Some("fake")) && !crew.reload(Some("nobody")));
    assert!(run(&crew, "mcp_fake_echo", json!({"text": "anew"})).await.is_ok());
    assert_eq!(std::fs::read_to_string(workspace.path().join("starts")).unwrap().lines().count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_is_given_up_and_told_so() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![Spec { call: Duration::from_secs(1), ..spec("fake", "") }]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let told = failed(run(&crew, "mcp_fake_hang", json!({})).await);
    assert!(told.contains("did not answer within 1 s"), "{told}");
    let note = workspace.path().join("cancelled");
    crate::kit::until("the server was told", || std::fs::read_to_string(&note).is_ok_and(|n| !n.is_empty()))
        .await;
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "it took too long");
    assert!(run(&crew, "mcp_fake_echo", json!({"text": "still here"})).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_tokens_are_sent_and_bodies_bounded() {
    let workspace = tempfile::tempdir().unwrap();
    let server = OverHttp::start();
    let hub = hub(workspace.path(), vec![server.spec("web", "letmein"), server.spec("locked", "wrong")]);
    let crew = crew(&hub, &place(&workspace));
    let names = names(&crew).await;
    assert!(names.contains(&"mcp_web_echo".to_owned()), "{names:?} {:?}", crew.status());
    assert!(!names.iter().any(|name| name.starts_with("mcp_locked_")));
    let locked = crew.status().into_iter().find(|status| status.name == "locked").unwrap();
    assert_eq!(
        locked.problems[0],
        "HTTP 401 Unauthorized: it wants another token; see bearer_token and headers"
    );
    assert!(run(&crew, "mcp_web_echo", json!({"text": "hi"})).await.unwrap().told.contains("hi"));
    let told = failed(run(&crew, "mcp_web_big", json!({})).await);
    assert!(told.contains("bytes"), "{told}");
    assert!(run(&crew, "mcp_web_echo", json!({"text": "hi"})).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_over_http_is_told_in_plain_words() {
    let workspace = tempfile::tempdir().unwrap();
    let gone = OverHttp::start();
    let nobody = gone.spec("nobody", "letmein");
    drop(gone);
    let (moved, page) = (OverHttp::start_as("elsewhere"), OverHttp::start_as("page"));
    let servers = vec![nobody, moved.spec("moved", "letmein"), page.spec("page", "letmein")];
    let hub = hub(workspace.path(), servers);
    let crew = crew(&hub, &place(&workspace));
    assert!(names(&crew).await.is_empty(), "nobody follows it elsewhere");
    for (name, why) in [("nobody", "refused"), ("moved", "name that url"), ("page", "\"text/html\"")] {
        let status = crew.status().into_iter().find(|status| status.name == name).unwrap();
        let problem = &status.problems[0];
        assert!(problem.contains(why) && !problem.contains("::") && !problem.contains("rmcp"), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_stream_with_any_line_ends_is_heard_to_its_end() {
    let workspace = tempfile::tempdir().unwrap();
    let server = OverHttp::start_as("returns");
    let hub = hub(workspace.path(), vec![server.spec("web", "letmein")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let heard = run(&crew, "mcp_web_echo", json!({"text": "after 18 MB"})).await.unwrap();
    assert!(heard.told.contains("after 18 MB"), "{}", heard.told);
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_on_the_stream_of_a_session_ends_it() {
    let workspace = tempfile::tempdir().unwrap();
    let server = OverHttp::start_as("flood");
    let hub = hub(workspace.path(), vec![server.spec("web", "letmein")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let problems = || crew.status().into_iter().flat_map(|status| status.problems).collect::<String>();
    crate::kit::until("it is let go", || problems().contains("does not speak MCP")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listing_resources_is_stopped_at_once_and_waits_for_nobody_for_long() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("mute", "secretive"), spec("fake", "")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let (output, _heard) = tokio::sync::mpsc::channel(1);
    let cancel = tokio_util::sync::CancellationToken::new();
    let call = super::kit::called("list_mcp_resources", json!({}));
    let run = agena::domain::tool::Run { call, approval: Default::default(), output, cancel: cancel.clone() };
    let (began, listing) = (Instant::now(), crew.run(run));
    let (stopped, ()) = tokio::join!(listing, async { cancel.cancel() });
    assert!(matches!(stopped, Err(ToolError::Cancelled { .. })) && began.elapsed() < Duration::from_secs(5));
    let listed = super::kit::run(&crew, "list_mcp_resources", json!({})).await.unwrap().told;
    assert!(listed.contains("fake: buffer:1") && listed.contains("mute: no resources"), "{listed}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_list_that_could_not_be_read_is_read_later() {
    let workspace = tempfile::tempdir().unwrap();
    let hub = hub(workspace.path(), vec![spec("fake", "stumbles")]);
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    run(&crew, "mcp_fake_grow", json!({})).await.unwrap();
    let began = Instant::now();
    while !names(&crew).await.contains(&"mcp_fake_late".to_owned()) {
        assert!(began.elapsed() < Duration::from_secs(30), "it is never read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(workspace.path().join("stumbled").exists(), "the first attempt failed");
}
