//! What such a client says of trust, or of going on unasked, counts for nothing.

use serde_json::json;

use super::client::Coder;
use crate::agent::kit::{Bench, script, shell};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_client_says_of_itself_raises_what_it_may() {
    let bench = Bench::start(&script(&[shell("touch ran")])).await;
    let coder = Coder::of(&bench);
    let mut settings = coder.settings();
    settings["coderAgent"]["isTrusted"] = json!(true);
    settings["coderAgent"]["autoExecute"] = json!(true);
    let message = json!({"parts": [{"kind": "text", "text": "go"}], "metadata": settings});
    let asked = coder.stream(message, |_| false).await;
    assert_eq!(asked.asked()["confirmationDetails"]["type"], "exec");
    assert!(!bench.path("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_outside_of_the_root_is_refused() {
    let bench = Bench::start(&script(&[shell("touch ran")])).await;
    let coder = Coder::of(&bench);
    let settings = json!({"kind": "agent-settings", "workspacePath": "/etc", "isTrusted": true});
    let message = json!({"parts": [{"kind": "text", "text": "go"}], "metadata": {"coderAgent": settings}});
    let refused = coder.stream(message, |_| false).await;
    assert_eq!(refused.last()["error"]["code"], -32602, "{:?}", refused.0);
    let (status, answer) = bench
        .server
        .call_as(crate::kit::TOKEN, "POST", "/tasks", Some(&json!({"agentSettings": settings})))
        .await;
    assert_eq!(status, 400, "{answer}");
    assert!(answer["error"].is_string(), "{answer}");
}
