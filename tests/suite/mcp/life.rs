//! The life of a call of a server's tool: offered, asked for, run, cancelled; and who may name a server at all.

use std::sync::Arc;

use agena::agent::mind::Options;
use agena::domain::extension::DEVELOPMENT_TOOL;
use agena::domain::mcp::{Servers, Spec, State};
use agena::domain::tool::{Approval, Run, ToolError};
use agena::mcp::Hub;
use agena::proto::devtool::McpServer;
use agena::sandbox::landlock::Confinement;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::kit::{FAKE, called, crew, hub, names, options, place, run, spec};
use crate::agent::kit::{Bench, decision, script};
use crate::kit::agent::{AgentSetup, WithServers};
use crate::kit::{A2aSetup, until};

async fn bench(calls: &[(&str, Value)], servers: Vec<Spec>) -> Bench {
    let workspace = Arc::new(tempfile::tempdir().unwrap());
    let hub = hub(workspace.path(), servers);
    at(&script(calls), workspace, hub).await
}

async fn at(script: &str, workspace: Arc<TempDir>, hub: Arc<Hub>) -> Bench {
    let servers = Some(WithServers(hub));
    Bench::at(script, workspace, |setup: A2aSetup| A2aSetup {
        agent: AgentSetup { servers, ..setup.agent },
        ..setup
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_asked_for_with_its_server_and_runs_when_it_may() {
    let bench = bench(&[("mcp_fake_echo", json!({"text": "over there"}))], vec![spec("fake", "")]).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let call = &asked.asked()[0];
    let request = &call["confirmation_request"];
    assert_eq!(request["mcp_details"], json!({"server_name": "fake", "tool_name": "echo"}), "{call}");
    let ids: Vec<&str> =
        request["options"].as_array().unwrap().iter().map(|o| o["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"]);
    let heard = talk.decide(&asked.task(), &[decision(call, "proceed_once")]).await;
    assert_eq!(heard.state(), "completed");
    assert_eq!(heard.calls().last().unwrap()["output"]["text"], "over there");
    assert!(heard.text().contains("over there"), "the model hears it: {}", heard.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn always_holds_for_the_tool_or_for_the_server() {
    let echo = |text: &str| ("mcp_fake_echo", json!({ "text": text }));
    for (option, asked_again) in [("proceed_always_tool", true), ("proceed_always_server", false)] {
        let rules = json!({"rules": [{"do": [
            {"call": {"tool": "mcp_fake_echo", "with": echo("1").1}},
            {"call": {"tool": "mcp_fake_echo", "with": echo("2").1}},
            {"call": {"tool": "mcp_fake_picture", "with": {}}},
            {"say": "done"},
        ]}]});
        let workspace = Arc::new(tempfile::tempdir().unwrap());
        let hub = hub(workspace.path(), vec![spec("fake", "")]);
        let bench = at(&rules.to_string(), workspace, hub).await;
        let talk = bench.talk();
        let asked = talk.ask("go").await;
        let heard = talk.decide(&asked.task(), &[decision(&asked.asked()[0], option)]).await;
        let expected = if asked_again { "input-required" } else { "completed" };
        assert_eq!(heard.state(), expected, "{option}: {:?}", heard.trail());
        let echoes = heard.trail().iter().filter(|line| *line == "mcp_fake_echo SUCCEEDED").count();
        assert_eq!(echoes, 2, "{option}");
        // Another context was promised nothing.
        assert_eq!(talk.ask("go").await.state(), "input-required");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_live_output_and_cancelling_reaches_the_server() {
    let bench = bench(&[("mcp_fake_slow", json!({}))], vec![spec("fake", "")]).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let confirm = json!({"taskId": asked.task(), "parts": [
        {"kind": "data", "data": decision(&asked.asked()[0], "proceed_once")}]});
    let heard = talk.stream_until(confirm, |event| event.to_string().contains("step 3")).await;
    let live = heard.calls().last().unwrap()["live_content"].as_str().unwrap_or_default().to_owned();
    assert_eq!(live, "[1 of 3] step 1\n[2 of 3] step 2\n[3 of 3] step 3\n");
    let cancelled = talk.call("tasks/cancel", json!({"id": asked.task()})).await;
    assert_eq!(cancelled["status"]["state"], "canceled");
    until("the server was told", || bench.read("cancelled") == "the user cancelled it").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_server_is_not_asked_for_and_a_changed_list_is_taken_up() {
    let allow = agena::agent::policy::Rule::try_from(agena::agent::policy::RuleSpec {
        tool: "mcp_fake_*".to_owned(),
        command: None,
        path: None,
        decision: agena::agent::policy::Decision::Allow,
        reason: None,
        matches: vec![],
        not_matches: vec![],
    });
    let workspace = Arc::new(tempfile::tempdir().unwrap());
    let servers = Some(WithServers(hub(workspace.path(), vec![Spec { trusted: true, ..spec("fake", "") }])));
    let rules = json!({"rules": [{"do": [
        {"call": {"tool": "mcp_fake_grow", "with": {}}},
        {"call": {"tool": "mcp_fake_late", "with": {}}},
        {"call": {"tool": "mcp_fake_shrink", "with": {}}},
        {"call": {"tool": "mcp_fake_echo", "with": {"text": "x"}}},
        {"say": "done"},
    ]}]});
    let bench = Bench::at(&rules.to_string(), workspace, |setup: A2aSetup| A2aSetup {
        agent: AgentSetup {
            servers,
            options: Options { rules: Arc::new([allow.unwrap()]), ..Options::default() },
            ..setup.agent
        },
        ..setup
    })
    .await;
    let heard = bench.talk().ask("go").await;
    assert_eq!(heard.state(), "completed");
    let trail = heard.trail();
    assert!(trail.contains(&"mcp_fake_late SUCCEEDED".to_owned()), "{trail:?}");
    let last = heard.calls().last().unwrap().clone();
    assert_eq!(
        (last["status"].as_str(), last["error"]["type"].as_str()),
        (Some("FAILED"), Some("tool_not_registered"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_dies_fails_alone_and_the_task_goes_on() {
    let calls = [("mcp_fake_die", json!({})), ("mcp_other_echo", json!({"text": "unharmed"}))];
    let bench = bench(&calls, vec![spec("fake", ""), spec("other", "")]).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let yes: Vec<Value> = asked.asked().iter().map(|call| decision(call, "proceed_once")).collect();
    let heard = talk.decide(&asked.task(), &yes).await;
    assert_eq!(heard.state(), "completed");
    let ends: Vec<Value> =
        heard.calls().into_iter().filter(|c| c["status"] == "FAILED" || c["status"] == "SUCCEEDED").collect();
    assert_eq!(ends[0]["error"]["type"], "mcp_tool_error", "{ends:?}");
    assert_eq!(ends[1]["output"]["text"], "unharmed", "{ends:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_names_servers_only_where_it_may_and_the_user_agrees_first() {
    let workspace = Arc::new(tempfile::tempdir().unwrap());
    let named = json!({"name": "mine", "command": "python3", "arguments": [FAKE]});
    let message = |text: &str| {
        json!({
            "parts": [{"kind": "text", "text": text}],
            "metadata": {DEVELOPMENT_TOOL: {"workspace_path": place(&workspace), "mcp_servers": [named]}},
        })
    };
    let rules = json!({"rules": [{"do": [
        {"call": {"tool": "connect_mcp_server", "with": {"server": "mine"}}},
        {"call": {"tool": "mcp_mine_echo", "with": {"text": "buffer"}}},
        {"say": "done: {result}"},
    ]}]})
    .to_string();
    let closed = at(&rules, Arc::clone(&workspace), hub(workspace.path(), vec![])).await;
    let refused = closed.talk().stream(message("go")).await.error().to_string();
    assert!(refused.contains("mcp_servers") && refused.contains("mcp.from_clients"), "{refused}");
    let open =
        Hub::new(agena::mcp::Options { from_clients: true, ..options(workspace.path(), vec![]) }).unwrap();
    let bench = at(&rules, Arc::clone(&workspace), Arc::new(open)).await;
    let talk = bench.talk();
    let asked = talk.stream(message("go")).await;
    let call = &asked.asked()[0];
    let shown = call["confirmation_request"]["generic_details"]["description"].as_str().unwrap();
    assert!(shown.starts_with("Start the MCP server mine: python3 "), "{shown}");
    assert!(!workspace.path().join("starts").exists(), "nothing starts before somebody agreed");
    let rejected = talk.decide(&asked.task(), &[decision(call, "cancel")]).await;
    assert!(!workspace.path().join("starts").exists(), "{:?}", rejected.trail());
    let asked = talk.stream(message("again")).await;
    let next = talk.decide(&asked.task(), &[decision(&asked.asked()[0], "proceed_once")]).await;
    assert_eq!(next.asked()[0]["tool_name"], "mcp_mine_echo", "{:?}", next.trail());
    let heard = talk.decide(&asked.task(), &[decision(&next.asked()[0], "proceed_once")]).await;
    assert_eq!((heard.state().as_str(), heard.text().contains("buffer")), ("completed", true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_names_servers_only_if_it_is_trusted() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::create_dir(workspace.path().join(".gemini")).unwrap();
    let settings = json!({"mcpServers": {"near": {"command": "python3", "args": [FAKE], "trust": true}}});
    std::fs::write(workspace.path().join(".gemini/settings.json"), settings.to_string()).unwrap();
    let at = place(&workspace);
    let untrusted = hub(workspace.path(), vec![]);
    assert!(names(&crew(&untrusted, &at)).await.is_empty());
    assert!(!workspace.path().join("starts").exists());
    let trusted = agena::mcp::Options {
        trusted: vec![workspace.path().to_owned()],
        ..options(workspace.path(), vec![])
    };
    let trusted = Hub::new(trusted).unwrap();
    let crew = crew(&trusted, &at);
    assert!(names(&crew).await.contains(&"mcp_near_echo".to_owned()));
    let status = &crew.status()[0];
    assert!(status.way.ends_with("fake.py"), "{status:?}");
    assert_eq!(
        (status.state, status.trusted),
        (State::Connected, false),
        "its own word for it does not count"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_prompts_are_there_and_filters_hold() {
    let workspace = tempfile::tempdir().unwrap();
    let filtered = Spec {
        include: vec!["echo".to_owned(), "big".to_owned()],
        exclude: vec!["big".to_owned()],
        ..spec("few", "")
    };
    let hub = hub(workspace.path(), vec![filtered]);
    let crew = crew(&hub, &place(&workspace));
    assert_eq!(names(&crew).await, ["mcp_few_echo", "list_mcp_resources", "read_mcp_resource"]);
    let listed = run(&crew, "list_mcp_resources", json!({})).await.unwrap().told;
    assert!(listed.contains("few: buffer:1 main.py An open buffer"), "{listed}");
    let read = run(&crew, "read_mcp_resource", json!({"server": "few", "uri": "buffer:1"})).await.unwrap();
    assert!(read.told.contains("print('unsaved')"));
    let plan =
        crew.plan(&called("read_mcp_resource", json!({"server": "few", "uri": "buffer:1"}))).await.unwrap();
    let details = serde_json::to_value(agena::proto::devtool::ConfirmationRequest {
        details: Some(plan.details),
        ..Default::default()
    });
    assert_eq!(
        details.unwrap()["mcp_details"]["server_name"],
        "few",
        "it is asked for as a tool of its server"
    );
    assert_eq!(crew.status()[0].way, "python3", "what the operator wrote behind it is the operator's");
    let prompts = crew.prompts().await;
    assert_eq!((prompts[0].server.as_str(), prompts[0].name.as_str()), ("few", "greet"));
    assert!(prompts[0].arguments[0].required);
    let arguments = json!({"who": "Ann"}).as_object().unwrap().clone();
    assert_eq!(crew.prompt("few", "greet", arguments).await.unwrap(), "Greet Ann.");
    assert!(crew.prompt("nobody", "greet", Default::default()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_gets_no_more_than_it_was_given_and_ends_with_its_hub() {
    let workspace = tempfile::tempdir().unwrap();
    let mut options = options(workspace.path(), vec![Spec { confined: true, ..spec("fake", "") }]);
    let support = agena::sandbox::landlock::support();
    if matches!(support, agena::sandbox::landlock::Support::Landlock(_)) {
        options.launcher.confinement = Some(Confinement::default());
    }
    let hub = Hub::new(options).unwrap();
    let crew = crew(&hub, &place(&workspace));
    names(&crew).await;
    let told = run(&crew, "mcp_fake_variables", json!({})).await.unwrap().told;
    let given: Vec<&str> = told.split_whitespace().collect();
    assert!(given.contains(&"FAKE_KEY") && given.contains(&"PATH"), "{told}");
    assert!(!given.iter().any(|name| name.starts_with("CARGO")), "{told}");
    let (output, _heard) = mpsc::channel(1);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let call = called("mcp_fake_echo", json!({"text": "x"}));
    let stopped = crew.run(Run { call, approval: Approval::default(), output, cancel }).await;
    assert!(matches!(stopped, Err(ToolError::Cancelled { .. })));
    let fakes = || {
        let below = agena::sandbox::process::descendants(std::process::id().cast_signed());
        let place = place(&workspace);
        let here = |pid: &&i32| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.to_str() == Some(&place))
        };
        below.iter().filter(here).count()
    };
    assert!(fakes() > 0);
    drop(crew);
    drop(hub);
    until("the server has ended", || fakes() == 0).await;
}

#[test]
fn what_a_client_names_is_checked() {
    let workspace = tempfile::tempdir().unwrap();
    let open =
        agena::mcp::Options { from_clients: true, ..options(workspace.path(), vec![spec("taken", "")]) };
    let hub = tokio::runtime::Runtime::new().unwrap().block_on(async { Hub::new(open).unwrap() });
    let named =
        |name: &str, url: &str| McpServer { name: name.into(), url: url.into(), ..McpServer::default() };
    for (servers, word) in [
        (vec![named("taken", "https://example.com")], "another name"),
        (vec![named("a", "https://example.com"), named("a", "https://example.com")], "another name"),
        (vec![named("a", "http://10.0.0.1/mcp")], "`a`: url"),
        (vec![named("a b", "https://example.com")], "no name"),
        ((0..9).map(|n| named(&format!("n{n}"), "https://example.com")).collect(), "8 are allowed"),
    ] {
        let refused = hub.check(&servers).unwrap_err();
        assert!(refused.field == "mcp_servers" && refused.problem.contains(word), "{refused}");
    }
    assert!(hub.check(&[named("a", "https://example.com/mcp")]).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn always_was_said_of_this_command_and_not_of_another_with_its_name() {
    let workspace = Arc::new(tempfile::tempdir().unwrap());
    std::fs::create_dir(workspace.path().join(".agena")).unwrap();
    let written = |mode: &str| {
        let servers = json!({"mcpServers": {"near": {"command": "python3", "args": [FAKE, mode]}}});
        std::fs::write(workspace.path().join(".agena/mcp.json"), servers.to_string()).unwrap();
    };
    written("");
    let trusted = vec![workspace.path().to_owned()];
    let hub = Hub::new(agena::mcp::Options { trusted, ..options(workspace.path(), vec![]) }).unwrap();
    let script = script(&[("mcp_near_echo", json!({"text": "x"}))]);
    let bench = at(&script, Arc::clone(&workspace), Arc::new(hub)).await;
    let talk = bench.talk();
    let asked = talk.ask("go").await;
    let context = asked.0[0]["contextId"].as_str().unwrap().to_owned();
    let heard = talk.decide(&asked.task(), &[decision(&asked.asked()[0], "proceed_always_server")]).await;
    assert_eq!(heard.state(), "completed");
    let again = || json!({"contextId": context, "parts": [{"kind": "text", "text": "go"}]});
    assert_eq!(talk.stream(again()).await.state(), "completed", "the same is not asked for");
    written("other");
    assert_eq!(talk.stream(again()).await.state(), "input-required");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_client_sees_all_arguments_before_it_agrees() {
    let text = format!("{}\nthe end\u{202e}", "long ".repeat(200));
    let bench = bench(&[("mcp_fake_echo", json!({ "text": text }))], vec![spec("fake", "")]).await;
    let shown = bench.plain_talk().ask("go").await.text();
    assert!(shown.contains("Call the tool echo of the server fake:"), "{shown}");
    assert!(shown.contains("\\nthe end\\u{202e}\"") && shown.contains(&"long ".repeat(200)), "{shown}");
}
