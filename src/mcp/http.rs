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
use sse_stream::{Sse, SseStream};

use super::pipe::MESSAGE;
use super::spec::{Spec, Way};
use crate::domain::mcp::Origin;
use crate::domain::webhook;
use crate::sandbox::dial::{self, Guard, SystemLookup};

const SESSION: &str = "mcp-session-id";
const BOTH: &str = "application/json, text/event-stream";
/// Of an answer that is an error.
const COMPLAINT: usize = 2_000;

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client whose answers are bounded.
#[derive(Clone)]
pub(super) struct Bounded(Client);

pub(super) fn open(
    spec: &Spec,
    allowed: &[String],
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
    Ok(StreamableHttpClientTransport::with_client(Bounded(client), config))
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
        let mut request = self.0.post(&*uri).header(header::ACCEPT, BOTH);
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        if let Some(session) = session_id {
            request = request.header(SESSION, &*session);
        }
        let response = request.json(&message).send().await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT)
            || (status.is_success() && !expects)
        {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        answer(response).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failed> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let (client, most) = (&self.0, MESSAGE);
        client
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                most,
            )
            .await
    }
}

async fn answer(response: Response) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let (kind, session) = (text("content-type").unwrap_or_default(), text(SESSION));
    if !status.is_success() {
        let body = body(response, COMPLAINT).await.unwrap_or_default();
        if let Ok(message @ JsonRpcMessage::Error(_)) = serde_json::from_slice::<ServerJsonRpcMessage>(&body)
        {
            return Ok(StreamableHttpPostResponse::Json(message, session));
        }
        return Err(unexpected(format!("HTTP {status}")));
    }
    if kind.starts_with("text/event-stream") {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    if !kind.starts_with("application/json") {
        return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
    }
    let body = body(response, MESSAGE).await?;
    let message = serde_json::from_slice(&body)
        .map_err(|error| unexpected(format!("the answer is no JSON-RPC: {error}")))?;
    Ok(StreamableHttpPostResponse::Json(message, session))
}

fn unexpected(problem: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(problem))
}

async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most {
            return Err(unexpected(format!("the answer has more than {most} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Events of bounded size: bytes since the last empty line are counted.
fn events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut open = 0_usize;
    let bytes = response.bytes_stream().map_err(io::Error::other).map(move |piece| {
        let piece = piece?;
        open = match memchr::memmem::rfind(&piece, b"\n\n") {
            Some(at) => piece.len() - at,
            None => open + piece.len(),
        };
        match open > MESSAGE {
            true => Err(io::Error::other(format!("an event has more than {MESSAGE} bytes"))),
            false => Ok(piece),
        }
    });
    SseStream::from_bytes_stream(bytes).boxed()
}
