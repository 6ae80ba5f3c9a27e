//! The way to a model's server: one pooled client, with deadlines on everything. Redirects are not followed, since a key
//! goes along; HTTP/1.1, so that answers do not wait for each other and leaving one ends just that one. Knows no
//! vendor; the backends call it.

mod pieces;

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::{redirect, retry};
use tokio::time::Instant;

pub use pieces::Pieces;

use crate::domain::model::{ModelCause, ModelError};
use crate::domain::secret::Secret;
use crate::sandbox::dial;

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    pub connect: Duration,
    /// Until the first bytes of the answer are there.
    pub first_byte: Duration,
    /// Between one piece and the next.
    pub idle: Duration,
    /// For the whole answer.
    pub total: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(10), first_byte: seconds(120), idle: seconds(120), total: seconds(1800) }
    }
}

/// Which proxy leads there.
#[derive(Debug, Clone, Default)]
pub enum Proxy {
    /// As `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
    #[default]
    Environment,
    None,
    /// A URL, perhaps with a password.
    Url(Secret),
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot set up TLS for models: {0}")]
    Tls(#[from] rustls::Error),
    #[error("model.proxy is not a URL of a proxy")]
    Proxy,
    #[error("cannot set up the client for models: {0}")]
    Client(reqwest::Error),
}

#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
    deadlines: Deadlines,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Call {
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: Method::GET, url: url.into(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// JSON, unless another content type is set behind it.
    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let json = HeaderValue::from_static("application/json");
        let post = Self { method: Method::POST, body: body.into(), ..Self::get(url) };
        post.header(http::header::CONTENT_TYPE, json)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// A header that no log shows. A key that no header can carry is refused before it gets here; should one come
    /// all the same, it is left out and the other side says that there is none.
    #[must_use]
    pub fn secret(mut self, name: HeaderName, prefix: &str, secret: &Secret) -> Self {
        if let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{}", secret.expose())) {
            value.set_sensitive(true);
            self.headers.insert(name, value);
        }
        self
    }
}

/// The status is there; the body comes.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: reqwest::Body,
    clock: Clock,
}

/// What the deadlines of one answer are counted from.
#[derive(Debug, Clone)]
struct Clock {
    host: String,
    asked: Instant,
    deadlines: Deadlines,
}

impl Http {
    pub fn new(deadlines: Deadlines, proxy: &Proxy) -> Result<Self, ClientError> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(dial::tls()?)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .user_agent(concat!("agena/", env!("CARGO_PKG_VERSION")))
            .http1_only()
            .tcp_nodelay(true)
            .tcp_keepalive(Duration::from_secs(60))
            .pool_idle_timeout(Duration::from_secs(90))
            .connect_timeout(deadlines.connect);
        let builder = match proxy {
            Proxy::Environment => builder,
            Proxy::None => builder.no_proxy(),
            // The library's own words would quote the password.
            Proxy::Url(url) => {
                builder.proxy(reqwest::Proxy::all(url.expose()).map_err(|_| ClientError::Proxy)?)
            }
        };
        Ok(Self { client: builder.build().map_err(ClientError::Client)?, deadlines })
    }

    /// Waits for the status, whatever it is.
    pub async fn send(&self, call: Call) -> Result<Answer, ModelError> {
        let Call { method, url, headers, body } = call;
        let clock = Clock { host: host(&url), asked: Instant::now(), deadlines: self.deadlines };
        let sent = self.client.request(method, url).headers(headers).body(body).send();
        let response = match tokio::time::timeout(self.deadlines.first_byte, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(clock.unreached(&error)),
            Err(_) => return Err(clock.silent(self.deadlines.first_byte)),
        };
        let (head, body) = http::Response::from(response).into_parts();
        Ok(Answer { status: head.status, headers: head.headers, body, clock })
    }
}

impl Answer {
    /// The body as it comes. Dropping it ends the connection, so that the other side stops too.
    pub fn pieces(self) -> Pieces {
        Pieces::new(self.body, self.clock)
    }

    /// The whole body, if it is no longer than this.
    pub async fn whole(self, limit: usize) -> Result<Bytes, ModelError> {
        self.pieces().whole(limit).await
    }
}

/// `host:port` of a URL, for messages: the rest of it is nobody's business.
fn host(url: &str) -> String {
    let parsed = reqwest::Url::parse(url).ok();
    let named = parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port())));
    match named {
        Some((host, Some(port))) => format!("{host}:{port}"),
        Some((host, None)) => host.to_owned(),
        None => "the model's server".to_owned(),
    }
}

impl Clock {
    fn end(&self) -> Instant {
        self.asked + self.deadlines.total
    }

    fn unavailable(&self, what: &str) -> ModelError {
        ModelError::new(ModelCause::Unavailable, format!("{} {what}", self.host))
    }

    fn silent(&self, waited: Duration) -> ModelError {
        self.unavailable(&format!("said nothing for {} s", waited.as_secs_f64()))
    }

    fn unreached(&self, error: &reqwest::Error) -> ModelError {
        // A URL that cannot be asked is a setting, not the weather.
        if error.is_builder() {
            return ModelError::new(
                ModelCause::Invalid,
                format!("{} cannot be asked: mend its base_url", self.host),
            );
        }
        let why = cause(error).map(|why| format!(" ({why})")).unwrap_or_default();
        match error.is_connect() {
            true => self.unavailable(&format!("cannot be reached{why}")),
            false => self.unavailable(&format!("broke the connection off{why}")),
        }
    }
}

/// What the system said, if it said something.
fn cause(error: &reqwest::Error) -> Option<String> {
    let mut found = error.source();
    while let Some(error) = found {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.to_string());
        }
        found = error.source();
    }
    error.is_timeout().then(|| "it takes too long".to_owned())
}
