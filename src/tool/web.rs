//! Pages of the web, for the tools that fetch them. Addresses that lead inside are refused where a name is dialled,
//! and every redirect is followed only after it was looked at like a first address. `web_fetch` calls it.

use std::sync::Arc;
use std::time::Duration;

use encoding_rs::{Encoding, UTF_8};
use http::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};

use super::html;
use crate::domain::tool::ToolError;
use crate::domain::webhook::{self, BadWebhook};
use crate::sandbox::dial::{self, Guard, Lookup, SystemLookup, leads_inside};

const REDIRECTS: usize = 5;
const PAGE: usize = 10 * 1024 * 1024;
const FAILED: &str = "web_fetch_processing_error";

/// What can be set about fetching.
#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Hosts that may lie inside.
    pub allow_hosts: Vec<String>,
    pub connect: Duration,
    /// For one page with all its redirects.
    pub total: Duration,
    /// For a model that searches, or reads the pages itself. Behind it they are fetched here.
    pub asked: Duration,
    pub lookup: Arc<dyn Lookup>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            connect: Duration::from_secs(10),
            total: Duration::from_secs(30),
            asked: Duration::from_mins(1),
            lookup: Arc::new(SystemLookup),
        }
    }
}

/// The client, which all workspaces share.
#[derive(Debug, Clone)]
pub(super) struct Web {
    http: reqwest::Client,
    allowed: Vec<String>,
    total: Duration,
    pub(super) asked: Duration,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("cannot set up TLS for web_fetch: {0}")]
    Tls(#[from] rustls::Error),
    #[error("cannot set up the client of web_fetch: {0}")]
    Client(#[from] reqwest::Error),
}

pub(super) enum Page {
    Text(String),
    Media(String, Vec<u8>),
}

impl Web {
    pub(super) fn new(options: &WebOptions) -> Result<Self, WebError> {
        let allowed = options.allow_hosts.clone();
        let guard = Guard { lookup: Arc::clone(&options.lookup), allowed: allowed.clone() };
        let http = dial::client(guard, options.connect)?
            .user_agent(concat!("agena/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, allowed, total: options.total, asked: options.asked })
    }

    /// In the form in which it is dialled: an address in a URL meets no resolver.
    pub(super) fn target(&self, given: &str) -> Result<Url, ToolError> {
        let refused = |what: &str| ToolError::new("invalid_tool_params", format!("url: {given} {what}"));
        let url = Url::parse(given).map_err(|_| refused("is not a URL"))?;
        match webhook::check(url.as_str(), &self.allowed) {
            Ok(()) => Ok(url),
            Err(BadWebhook::Inward) => Err(refused("leads to a private network, which is not fetched from")),
            Err(bad) => Err(refused(&bad.to_string())),
        }
    }

    /// Whether others can reach it as well: the hosts that the operator allowed may lie inside.
    pub(super) fn is_public(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|host| !webhook::is_allowed(host, &self.allowed))
    }

    pub(super) async fn fetch(&self, given: &Url) -> Result<Page, ToolError> {
        let within = tokio::time::timeout(self.total, self.follow(given.clone())).await;
        within.unwrap_or_else(|_| {
            Err(ToolError::new(
                FAILED,
                format!("{given} gave no whole answer within {} s", self.total.as_secs_f64()),
            ))
        })
    }

    async fn follow(&self, mut url: Url) -> Result<Page, ToolError> {
        for _ in 0..=REDIRECTS {
            let response = self.http.get(url.clone()).send().await.map_err(|error| problem(&url, &error))?;
            let next = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
            let Some(next) = next else { return page(&url, response).await };
            let next = next.to_str().ok().and_then(|next| url.join(next).ok());
            let next = next.ok_or_else(|| ToolError::new(FAILED, format!("{url} redirects to no URL")))?;
            url = self.target(next.as_str())?;
        }
        Err(ToolError::new(FAILED, format!("{url} is the end of more than {REDIRECTS} redirects")))
    }
}

fn problem(url: &Url, error: &reqwest::Error) -> ToolError {
    let what = match () {
        () if leads_inside(error) => "leads to a private network, which is not fetched from",
        () if error.is_timeout() => "gave no answer in time",
        () if error.is_connect() => "cannot be reached, or shows a certificate that is not trusted",
        () => "broke the connection off",
    };
    ToolError::new(FAILED, format!("{url} {what}"))
}

async fn page(url: &Url, mut response: Response) -> Result<Page, ToolError> {
    let status = response.status();
    if !status.is_success() {
        return Err(ToolError::new(FAILED, format!("{url} answered {}", status.as_u16())));
    }
    let kind =
        response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("text/plain");
    let kind = kind.to_ascii_lowercase();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| problem(url, &error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > PAGE {
            return Err(ToolError::new(FAILED, format!("{url} is larger than {PAGE} bytes")));
        }
    }
    understood(&kind, bytes)
        .ok_or_else(|| ToolError::new(FAILED, format!("{url} is {kind}, which cannot be read as text")))
}

/// By its content type: text, something to look at, or nothing.
fn understood(kind: &str, bytes: Vec<u8>) -> Option<Page> {
    let (mime, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let mime = mime.trim();
    let charset = parameters.split(';').find_map(|p| p.trim().strip_prefix("charset="));
    let encoding =
        charset.and_then(|name| Encoding::for_label(name.trim_matches('"').as_bytes())).unwrap_or(UTF_8);
    let decoded = || encoding.decode(&bytes).0.into_owned();
    match mime {
        "text/html" | "application/xhtml+xml" => Some(Page::Text(html::to_text(&decoded()))),
        "application/json" | "application/xml" | "application/javascript" => Some(Page::Text(decoded())),
        _ if mime.starts_with("text/") || mime.ends_with("+json") || mime.ends_with("+xml") => {
            Some(Page::Text(decoded()))
        }
        "application/pdf" => Some(Page::Media(mime.to_owned(), bytes)),
        _ if mime.starts_with("image/") => Some(Page::Media(mime.to_owned(), bytes)),
        _ => None,
    }
}
