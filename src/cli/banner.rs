//! What the server says when it is ready: every address, and how to come in.

use std::fmt::Write;

use crate::domain::secret::Secret;
use crate::service::card::Place;

/// Lines for a person. `token` is none when no key is needed.
pub fn banner(place: &Place, token: Option<&Secret>) -> String {
    let Place { url, authority, .. } = place;
    let mut text = format!("agena {} is ready\n\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<12}{value}");
    };
    line("gRPC", &format!("{authority}   (also gRPC-Web)"));
    line("HTTP+JSON", &format!("{url}   (streams are server-sent events)"));
    line("agent card", &format!("{url}/.well-known/agent-card.json"));
    match token {
        Some(token) => line("token", &format!("{}   (agena token prints it again)", token.expose())),
        None => line("token", "none needed: whoever reaches this port may use it"),
    }
    text
}
