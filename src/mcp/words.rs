//! Errors of the protocol's library in words for the user and the model: whoever knew first says it, and nobody reads
//! names of types. Pure.

use std::error::Error;

use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};

use super::offer::cut;

const WORDS: usize = 2_000;
/// What the library puts before our own words.
const UNEXPECTED: &str = "unexpected server response: ";

/// Of a request.
pub(super) fn failed(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(said) => its_own(said),
        ServiceError::TransportSend(failed) => innermost(&*failed.error),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        error => cut(&error.to_string(), WORDS),
    }
}

/// Of the greeting.
pub(super) fn refused(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => innermost(&*error.error),
        ClientInitializeError::JsonRpcError(said) => its_own(said),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "it does not greet as MCP servers do".to_owned()
        }
        error => cut(&error.to_string(), WORDS),
    }
}

fn its_own(said: &ErrorData) -> String {
    cut(&format!("it says: {} ({})", said.message, said.code.0), WORDS)
}

/// What began it.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let words = innermost.to_string();
    cut(words.strip_prefix(UNEXPECTED).unwrap_or(&words), WORDS)
}
