//! How a server is reached: by a connection of our own, or, where a proxy stands between, by reqwest, which knows proxies of
//! every kind.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HOST, HeaderValue, USER_AGENT};
use http::uri::{PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{redirect, retry};

use super::body::Body;
use super::pool::{self, Origin, Pool};
use super::{ClientError, Deadlines, Proxy};
use crate::sandbox::dial;

const AGENT: &str = concat!("agena/", env!("CARGO_PKG_VERSION"));

pub(super) type Question = Request<Full<Bytes>>;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// The URL leads nowhere.
    Nowhere,
    Unreached(Box<dyn Error + Send + Sync>),
    Broken(Box<dyn Error + Send + Sync>),
}

#[derive(Clone)]
pub(super) struct Way {
    pool: Arc<Pool>,
    proxied: Proxied,
}

/// Who goes through a proxy.
#[derive(Clone)]
enum Proxied {
    Nobody,
    /// As the environment says.
    Some(Arc<Matcher>, reqwest::Client),
    All(reqwest::Client),
}

impl Way {
    pub(super) fn new(deadlines: &Deadlines, proxy: &Proxy) -> Result<Self, ClientError> {
        let tls = dial::tls()?;
        let builder = builder(tls.clone(), deadlines.connect);
        let proxied = match proxy {
            Proxy::None => Proxied::Nobody,
            Proxy::Environment if !names_a_proxy() => Proxied::Nobody,
            Proxy::Environment => {
                let client = builder.build().map_err(ClientError::Client)?;
                Proxied::Some(Arc::new(Matcher::from_env()), client)
            }
            // The library's own words would quote the password.
            Proxy::Url(url) => {
                let proxy = reqwest::Proxy::all(url.expose()).map_err(|_| ClientError::Proxy)?;
                Proxied::All(builder.proxy(proxy).build().map_err(ClientError::Client)?)
            }
        };
        Ok(Self { pool: Arc::new(Pool::new(tls, deadlines.connect)), proxied })
    }

    /// What is asked has its whole address.
    pub(super) async fn ask(&self, request: Question) -> Result<Response<Body>, Lost> {
        match self.proxy(request.uri()) {
            // Apart, since it is large and most have no proxy.
            Some(client) => Box::pin(proxied(client, request)).await,
            None => self.direct(request).await,
        }
    }

    fn proxy(&self, uri: &Uri) -> Option<&reqwest::Client> {
        match &self.proxied {
            Proxied::Nobody => None,
            Proxied::Some(matcher, client) => matcher.intercept(uri).map(|_| client),
            Proxied::All(client) => Some(client),
        }
    }

    async fn direct(&self, request: Question) -> Result<Response<Body>, Lost> {
        let (origin, request) = on_the_wire(request).ok_or(Lost::Nowhere)?;
        let (answer, line) = self.pool.ask(&origin, request).await.map_err(|lost| match lost {
            pool::Lost::Unreached(error) => Lost::Unreached(error.into()),
            pool::Lost::Broken(error) => Lost::Broken(error.into()),
        })?;
        Ok(answer.map(|body| Body::direct(body, line, Arc::clone(&self.pool), origin)))
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Way")
    }
}

/// Most environments name none, and then nobody needs to be asked for one, nor a client that knows the way.
fn names_a_proxy() -> bool {
    const NAMES: [&str; 3] = ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"];
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    NAMES.iter().any(|name| is_set(name) || is_set(&name.to_ascii_lowercase()))
}

fn builder(tls: rustls::ClientConfig, connect: Duration) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .user_agent(AGENT)
        .http1_only()
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(60))
        .pool_idle_timeout(Duration::from_secs(90))
        .connect_timeout(connect)
}

async fn proxied(client: &reqwest::Client, request: Question) -> Result<Response<Body>, Lost> {
    let (head, body) = request.into_parts();
    let asked = client.request(head.method, head.uri.to_string()).headers(head.headers);
    let answer = asked.body(reqwest::Body::wrap(body)).send().await;
    let answer = answer.map_err(|error| match error {
        error if error.is_builder() => Lost::Nowhere,
        error if error.is_connect() => Lost::Unreached(error.into()),
        error => Lost::Broken(error.into()),
    })?;
    Ok(Response::from(answer).map(Body::Proxied))
}

/// The path in the first line, the name in a header.
fn on_the_wire(mut request: Question) -> Option<(Origin, Question)> {
    let parts = std::mem::take(request.uri_mut()).into_parts();
    let origin = Origin { scheme: parts.scheme?, authority: parts.authority? };
    if origin.scheme != Scheme::HTTP && origin.scheme != Scheme::HTTPS {
        return None;
    }
    let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    let headers = request.headers_mut();
    headers.insert(HOST, host(&origin)?);
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
    Some((origin, request))
}

/// Without a port that the scheme implies.
fn host(origin: &Origin) -> Option<HeaderValue> {
    let usual = if origin.scheme == Scheme::HTTPS { 443 } else { 80 };
    let Origin { authority, .. } = origin;
    let named = authority.port_u16().is_some_and(|port| port != usual);
    HeaderValue::from_str(if named { authority.as_str() } else { authority.host() }).ok()
}
