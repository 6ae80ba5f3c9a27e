//! Fetches pictures and documents that requests only name. Addresses that lead inside are refused where a name is
//! dialled, and every redirect is looked at like a first address. Knows no request; services call it through its
//! contract.

mod kind;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Response, Url};

use crate::domain::media::{Fetch, Fetched, Room, Unfetched};
use crate::domain::webhook::{self, BadWebhook};
use crate::sandbox::dial::{self, Guard, Lookup, SystemLookup, leads_inside};

const REDIRECTS: usize = 5;
const INWARD: &str = "leads to a private network, which nothing is fetched from; allow the host with facade.media_hosts if that is \
     meant, or send it as a data: URL";
const NO_ROOM: &str = "is larger than what may be fetched for one request; send a smaller one";

/// What can be set about fetching.
#[derive(Debug, Clone)]
pub struct Options {
    /// Hosts that may lie inside.
    pub allow_hosts: Vec<String>,
    pub connect: Duration,
    /// For one with all its redirects.
    pub total: Duration,
    pub lookup: Arc<dyn Lookup>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            connect: Duration::from_secs(10),
            total: Duration::from_secs(30),
            lookup: Arc::new(SystemLookup),
        }
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot set up TLS for fetching media: {0}")]
    Tls(#[from] rustls::Error),
    #[error("cannot set up the client that fetches media: {0}")]
    Client(#[from] reqwest::Error),
}

#[derive(Debug, Clone)]
pub struct Fetcher {
    http: reqwest::Client,
    allowed: Vec<String>,
    total: Duration,
}

impl Fetcher {
    pub fn new(options: Options) -> Result<Self, ClientError> {
        let Options { allow_hosts: allowed, connect, total, lookup } = options;
        let guard = Guard { lookup, allowed: allowed.clone() };
        let http =
            dial::client(guard, connect)?.user_agent(concat!("agena/", env!("CARGO_PKG_VERSION"))).build()?;
        Ok(Self { http, allowed, total })
    }

    /// In the form in which it is dialled: an address in a URL meets no resolver.
    fn target(&self, given: &str) -> Result<Url, Unfetched> {
        let url = Url::parse(given).map_err(|_| no("is not a URL"))?;
        match webhook::check(url.as_str(), &self.allowed) {
            Ok(()) => Ok(url),
            Err(BadWebhook::Inward) => Err(no(INWARD)),
            Err(bad) => Err(no(&bad.to_string())),
        }
    }

    async fn follow(&self, given: &str, room: &Room) -> Result<Fetched, Unfetched> {
        let mut url = self.target(given)?;
        for _ in 0..=REDIRECTS {
            let response = self.http.get(url.clone()).send().await.map_err(|error| problem(&error))?;
            if !response.status().is_redirection() {
                return whole(response, room).await;
            }
            let next = header(&response, LOCATION).and_then(|next| url.join(next).ok());
            url = self.target(next.ok_or_else(|| no("redirects to no URL"))?.as_str())?;
        }
        Err(no(&format!("is the end of more than {REDIRECTS} redirects")))
    }
}

#[async_trait]
impl Fetch for Fetcher {
    async fn fetch(&self, url: &str, room: &Room) -> Result<Fetched, Unfetched> {
        let within = tokio::time::timeout(self.total, self.follow(url, room)).await;
        let late = || no(&format!("gave no whole answer within {} s", self.total.as_secs_f64()));
        within.unwrap_or_else(|_| Err(late()))
    }
}

async fn whole(mut response: Response, room: &Room) -> Result<Fetched, Unfetched> {
    let status = response.status();
    if !status.is_success() {
        return Err(no(&format!("cannot be fetched: its server answered {}", status.as_u16())));
    }
    let declared = header(&response, CONTENT_TYPE).unwrap_or_default().to_owned();
    let announced =
        header(&response, CONTENT_LENGTH).and_then(|length| length.parse().ok()).unwrap_or_default();
    // Who says so beforehand need not be heard.
    if !room.has(announced) {
        return Err(no(NO_ROOM));
    }
    let mut data = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| problem(&error))? {
        if !room.take(chunk.len()) {
            return Err(no(NO_ROOM));
        }
        data.extend_from_slice(&chunk);
    }
    let mime_type = kind::of(&declared, &data).map_err(|problem| no(&problem))?;
    Ok(Fetched { mime_type, data })
}

fn header(response: &Response, name: HeaderName) -> Option<&str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The error itself names the URL, which may hold secrets.
fn problem(error: &reqwest::Error) -> Unfetched {
    no(match () {
        () if leads_inside(error) => INWARD,
        () if error.is_timeout() => "gave no answer in time",
        () if error.is_connect() => "cannot be reached, or shows a certificate that is not trusted",
        () => "broke the connection off",
    })
}

fn no(what: &str) -> Unfetched {
    Unfetched(what.to_owned())
}
