//! The way to a model's server: one pooled client, with deadlines on everything. Redirects are not followed, since a key
//! goes along; HTTP/1.1, so that answers do not wait for each other and leaving one ends just that one. Knows no
//! vendor; the backends call it.

mod body;
mod clock;
mod line;
mod pieces;
mod pool;
mod way;

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;

pub use pieces::Pieces;

use self::body::Body;
use self::clock::Clock;
use self::way::Way;
use crate::domain::model::ModelError;
use crate::domain::secret::Secret;

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
    way: Way,
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
    body: Body,
    clock: Clock,
}

impl Http {
    pub fn new(deadlines: Deadlines, proxy: &Proxy) -> Result<Self, ClientError> {
        Ok(Self { way: Way::new(&deadlines, proxy)?, deadlines })
    }

    /// Waits for the status, whatever it is.
    pub async fn send(&self, call: Call) -> Result<Answer, ModelError> {
        let Call { method, url, headers, body } = call;
        let uri = Uri::try_from(url).map_err(|_| clock::nowhere(None))?;
        let mut clock = Clock::start(&uri, self.deadlines);
        let mut request = Request::new(Full::new(body));
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        let answered = clock.until_first_byte(self.way.ask(request)).await?;
        let (head, body) = answered.map_err(|lost| clock.lost(&lost))?.into_parts();
        Ok(Answer { status: head.status, headers: head.headers, body, clock })
    }
}

impl Answer {
    /// Of the body, where the other side says it beforehand.
    pub fn length(&self) -> Option<u64> {
        self.body.length()
    }

    /// The body as it comes. Dropping it ends the connection, so that the other side stops too.
    pub fn pieces(self) -> Pieces {
        Pieces::new(self.body, self.clock)
    }

    /// The whole body, if it is no longer than this.
    pub async fn whole(self, limit: usize) -> Result<Bytes, ModelError> {
        self.pieces().whole(limit).await
    }
}
