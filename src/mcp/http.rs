//! The way to a server that speaks streamable HTTP: the client that dials only checked addresses, and answers of bounded
//! size. The protocol's library has the rest: sessions, streams and their resumption. Knows no call; `link` opens it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use http::{HeaderName, HeaderValue, StatusCode, header};
use reqwest::{Client, Response, Url};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::value::RawValue;
use sse_stream::{Sse, SseStream};

use super::pace::Pace;
use super::pipe::{MESSAGE, NONSENSE, Why};
use super::words::innermost;
use crate::domain::mcp::{Origin, Spec, Way};
use crate::domain::webhook;
use crate::sandbox::dial::{self, Guard, SystemLookup};

const SESSION: &str = "mcp-session-id";
const BOTH: &str = "application/json, text/event-stream";
/// Of an answer that is an error.
const COMPLAINT: usize = 2_000;

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client whose answers are bounded, and read no faster than they are needed.
#[derive(Clone)]
pub(super) struct Bounded {
    client: Client,
    why: Why,
}

pub(super) fn open(
    spec: &Spec,
    allowed: &[String],
    why: &Why,
) -> Result<StreamableHttpClientTransport<Bounded>, String> {
    let Way::Http { url, headers, bearer } = &spec.way else { return Err("it has no address".to_owned()) };
    let parsed = Url::parse(url).map_err(|error| format!("url: {error}"))?;
    let mut allowed = allowed.to_vec();
    match spec.origin {
        // The operator may name whatever the server can reach.
        Origin::Settings => {
            allowed.extend(parsed.host_str().map(|host| host.trim_matches(['[', ']']).to_owned()))
        }
        // Checked again in the form in which it is dialled.
        Origin::Workspace | Origin::Client => {
            webhook::check(parsed.as_str(), &allowed).map_err(|bad| format!("url: {bad}"))?;
        }
    }
    let guard = Guard { lookup: Arc::new(SystemLookup), allowed };
    let client = dial::client(guard, spec.connect.min(Duration::from_secs(30)))
        .map_err(|error| error.to_string())?
        .build()
        .map_err(|error| error.to_string())?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    config.max_sse_event_size = MESSAGE;
    config.auth_header = bearer.as_ref().map(|bearer| bearer.expose().to_owned());
    config.custom_headers = headers
        .iter()
        .map(|(name, value)| {
            let bad = |_| format!("headers: `{name}` is no header, or its value is none");
            let value = HeaderValue::from_str(value.expose()).map_err(|_| bad(()))?;
            Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(()))?, value))
        })
        .collect::<Result<Headers, String>>()?;
    Ok(StreamableHttpClientTransport::with_client(Bounded { client, why: why.clone() }, config))
}

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let in_session = session_id.is_some();
        let expects = matches!(message, JsonRpcMessage::Request(_));
        let mut request = self.client.post(&*uri).header(header::ACCEPT, BOTH);
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        if let Some(session) = session_id {
            request = request.header(SESSION, &*session);
        }
        let response = request.json(&message).send().await.map_err(unreachable)?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT)
            || (status.is_success() && !expects)
        {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        self.answer(response).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failed> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let opened = self.client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            MESSAGE,
        );
        Ok(paced(opened.await?, self.why.clone()))
    }
}

impl Bounded {
    async fn answer(&self, response: Response) -> Result<StreamableHttpPostResponse, Failed> {
        let status = response.status();
        let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (kind, session) = (text("content-type").unwrap_or_default(), text(SESSION));
        if !status.is_success() {
            let body = body(response, COMPLAINT).await.unwrap_or_default();
            let read = serde_json::from_slice::<ServerJsonRpcMessage>(&body);
            if let Ok(message @ JsonRpcMessage::Error(_)) = read {
                return Ok(StreamableHttpPostResponse::Json(message, session));
            }
            return Err(unexpected(refusal(status)));
        }
        if kind.starts_with("text/event-stream") {
            let events = paced(events(response), self.why.clone());
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if !kind.starts_with("application/json") {
            let kind: String = kind.chars().take(100).collect();
            return Err(unexpected(format!("it answers with {kind:?}, which is not MCP; is the url right?")));
        }
        let body = body(response, MESSAGE).await?;
        let message = serde_json::from_slice(&body)
            .map_err(|error| unexpected(format!("the answer is no JSON-RPC: {error}")))?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }
}

/// What a status means for whoever named the server.
fn refusal(status: StatusCode) -> String {
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "it wants another token; see bearer_token and headers"
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "there is no MCP server at this url",
        status if status.is_redirection() => "it sends elsewhere, where nobody follows; name that url",
        _ => "it does not say more",
    };
    format!("HTTP {status}: {hint}")
}

fn unreachable(error: reqwest::Error) -> Failed {
    unexpected(format!("it cannot be reached: {}", innermost(&error)))
}

fn unexpected(problem: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(problem))
}

async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > most {
            return Err(unexpected(format!("the answer has more than {most} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Events of bounded size.
fn events(response: Response) -> Events {
    let mut open = Open::default();
    let bytes = response.bytes_stream().map_err(io::Error::other).map(move |piece| {
        let piece = piece?;
        match open.after(&piece) > MESSAGE {
            true => Err(io::Error::other(format!("an event has more than {MESSAGE} bytes"))),
            false => Ok(piece),
        }
    });
    SseStream::from_bytes_stream(bytes).boxed()
}

/// Bytes since the last empty line, whichever way lines end and wherever pieces do.
struct Open {
    bytes: usize,
    line_is_empty: bool,
    after_return: bool,
}

impl Default for Open {
    fn default() -> Self {
        Self { bytes: 0, line_is_empty: true, after_return: false }
    }
}

impl Open {
    /// The most that were open within this piece.
    fn after(&mut self, piece: &[u8]) -> usize {
        let mut most = 0;
        for byte in piece {
            self.bytes += 1;
            most = most.max(self.bytes);
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\r' | b'\n' => {
                    if self.line_is_empty {
                        self.bytes = 0;
                    }
                    (self.line_is_empty, self.after_return) = (true, *byte == b'\r');
                }
                _ => (self.line_is_empty, self.after_return) = (false, false),
            }
        }
        most
    }
}

/// Read no faster than messages are; and what is none, again and again, ends it.
fn paced(events: Events, why: Why) -> Events {
    let state = (events, Pace::new(), 0_u32, why);
    futures::stream::unfold(state, |(mut events, mut pace, mut nonsense, why)| async move {
        pace.keep().await;
        let event = events.next().await?;
        pace.count();
        let is_message =
            |data: &str| serde_json::from_str::<&RawValue>(data).is_ok_and(|raw| raw.get().starts_with('{'));
        // Other kinds are for others, and an empty one only says where a stream could go on.
        if let Ok(Sse { data: Some(data), event: None, .. }) = &event
            && !data.is_empty()
            && !is_message(data)
        {
            nonsense += 1;
        }
        if nonsense > NONSENSE {
            why.say("it does not speak MCP: what it streams is no JSON-RPC");
            // Whoever holds the connection sees that and lets go of it.
            std::future::pending::<()>().await;
        }
        Some((event, (events, pace, nonsense, why)))
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_with_an_empty_line_however_lines_end() {
        for (pieces, expected) in [
            (&["data: 1\n\n", "data: 2\n\n"][..], [9, 9]),
            (&["data: 1\r\n\r\n", "data: 2\r\n\r\n"], [10, 11]),
            (&["data: 1\r\r", "data: 2\r\r"], [9, 9]),
            (&["data: 1\r\n\r", "\ndata: 2\r\n\r\n"], [10, 11]),
            (&["data: 1\n", "data: 2\n"], [8, 16]),
            (&["data: 1\r", "\ndata: 2"], [8, 16]),
        ] {
            let mut open = Open::default();
            let most: Vec<usize> = pieces.iter().map(|piece| open.after(piece.as_bytes())).collect();
            assert_eq!(most, expected, "{pieces:?}");
        }
    }
}
