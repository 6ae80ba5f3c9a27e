//! What the server says when it is ready: every address, what the agent may do, and how to come in.

use std::fmt::Write;

use crate::config::{ApprovalMode, Settings};
use crate::domain::secret::Secret;
use crate::service::card::Place;

/// Lines for a person. `sandbox` says whether commands are confined, and `token` is none when no key is needed.
pub fn banner(place: &Place, settings: &Settings, sandbox: &str, token: Option<&Secret>) -> String {
    let Place { url, authority, .. } = place;
    let mut text = format!("agena {} is ready\n\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<12}{value}");
    };
    line("gRPC", &format!("{authority}   (also gRPC-Web)"));
    line("HTTP+JSON", &format!("{url}   (streams are server-sent events)"));
    line("agent card", &format!("{url}/.well-known/agent-card.json"));
    line("workspace", &workspace(settings));
    line("model", &settings.model.name);
    line("approvals", &approvals(settings));
    line("sandbox", sandbox);
    match token {
        Some(token) => line("token", &format!("{}   (agena token prints it again)", token.expose())),
        None => line("token", "none needed: whoever reaches this port may use it"),
    }
    text
}

fn workspace(settings: &Settings) -> String {
    let workspace = settings.workspace.display();
    match settings.agent.root == settings.workspace {
        true => workspace.to_string(),
        false => format!("{workspace}   (clients may name others under {})", settings.agent.root.display()),
    }
}

fn approvals(settings: &Settings) -> String {
    let mode = settings.agent.approval_mode;
    let means = match mode {
        ApprovalMode::Default => "asks before it changes anything",
        ApprovalMode::AutoEdit => "edits plain files unasked, asks for the rest",
        ApprovalMode::Yolo => "asks for nothing",
        ApprovalMode::Plan => "changes nothing",
    };
    let more = if settings.agent.allow_yolo && mode != ApprovalMode::Yolo {
        "; clients may ask for yolo"
    } else {
        ""
    };
    format!("{}   ({means}{more})", mode.as_str())
}
