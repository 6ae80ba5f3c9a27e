//! `web_fetch`: pages of the web as text. Addresses that lead inside are refused where a name is dialled, and every
//! redirect is followed only after it was looked at like a first address.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use encoding_rs::{Encoding, UTF_8};
use http::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};
use serde::Deserialize;
use serde_json::json;

use super::html;
use super::shape::{Job, Place, Tool, declaration, plain_plan, read, text};
use super::text::{media, untrusted};
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};
use crate::domain::webhook::{self, BadWebhook};
use crate::proto::gemini::Part;
use crate::sandbox::dial::{self, Guard, Lookup, SystemLookup, leads_inside};

const MOST_URLS: usize = 20;
const REDIRECTS: usize = 5;
const PAGE: usize = 10 * 1024 * 1024;
/// For all pages together, in characters.
const BUDGET: usize = 250_000;
const FAILED: &str = "web_fetch_processing_error";

/// What can be set about fetching.
#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Hosts that may lie inside.
    pub allow_hosts: Vec<String>,
    pub connect: Duration,
    /// For one page with all its redirects.
    pub total: Duration,
    pub lookup: Arc<dyn Lookup>,
}

impl Default for WebOptions {
    fn default() -> Self {
        let (connect, total) = (Duration::from_secs(10), Duration::from_secs(30));
        Self { allow_hosts: Vec::new(), connect, total, lookup: Arc::new(SystemLookup) }
    }
}

/// The client, which all workspaces share.
#[derive(Debug, Clone)]
pub(super) struct Web {
    http: reqwest::Client,
    allowed: Vec<String>,
    total: Duration,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("cannot set up TLS for web_fetch: {0}")]
    Tls(#[from] rustls::Error),
    #[error("cannot set up the client of web_fetch: {0}")]
    Client(#[from] reqwest::Error),
}

enum Page {
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
        Ok(Self { http, allowed, total: options.total })
    }

    /// In the form in which it is dialled: an address in a URL meets no resolver.
    fn target(&self, given: &str) -> Result<Url, ToolError> {
        let refused = |what: &str| ToolError::new("invalid_tool_params", format!("url: {given} {what}"));
        let url = Url::parse(given).map_err(|_| refused("is not a URL"))?;
        match webhook::check(url.as_str(), &self.allowed) {
            Ok(()) => Ok(url),
            Err(BadWebhook::Inward) => Err(refused("leads to a private network, which is not fetched from")),
            Err(bad) => Err(refused(&bad.to_string())),
        }
    }

    async fn fetch(&self, given: &Url) -> Result<Page, ToolError> {
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

#[derive(Deserialize)]
struct Wanted {
    url: Option<String>,
    prompt: Option<String>,
}

/// The URLs of a call, in their order.
fn urls(wanted: &Wanted, web: &Web) -> Result<Vec<Url>, ToolError> {
    let prompt = wanted.prompt.as_deref().unwrap_or_default();
    let mut given: Vec<&str> = wanted.url.iter().map(String::as_str).collect();
    given.extend(prompt.split_whitespace().filter_map(url_in));
    given.dedup();
    if given.is_empty() {
        let message = "there is no http or https URL in url or prompt; give one";
        return Err(ToolError::new("web_fetch_no_url_in_prompt", message));
    }
    if given.len() > MOST_URLS {
        let message = format!("prompt: {} URLs are too many; {MOST_URLS} are the most", given.len());
        return Err(ToolError::new("invalid_tool_params", message));
    }
    given.into_iter().map(|url| web.target(&raw(url))).collect()
}

/// A URL in a sentence, without the marks around it.
fn url_in(word: &str) -> Option<&str> {
    let start = word.find("https://").or_else(|| word.find("http://"))?;
    Some(word[start..].trim_end_matches([')', ']', '>', '}', '"', '\'', '`', ',', '.', ';', ':', '!', '?']))
}

/// The file itself instead of GitHub's page around it.
fn raw(url: &str) -> String {
    let file = url.strip_prefix("https://github.com/").and_then(|rest| {
        let (repository, file) = rest.split_once("/blob/")?;
        (repository.matches('/').count() == 1)
            .then(|| format!("https://raw.githubusercontent.com/{repository}/{file}"))
    });
    file.unwrap_or_else(|| url.to_owned())
}

pub(super) struct WebFetch;

#[async_trait]
impl Tool for WebFetch {
    fn declaration(&self) -> Declaration {
        declaration(
            "web_fetch",
            "WebFetch",
            Kind::Fetch,
            "Fetches pages of the web and returns them as text; images and PDF are attached. Give one url, or a prompt \
             with up to 20 URLs in it. Only http and https, and nothing on private networks.",
            json!({
                "type": "object",
                "properties": {
                    "prompt": {
                        "type": "string",
                        "description": "What you want to know, with the URLs to fetch in it.",
                    },
                    "url": {"type": "string", "description": "One URL."},
                },
            }),
        )
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let urls = urls(&read(arguments)?, &place.web)?;
        let urls: Vec<&str> = urls.iter().map(Url::as_str).collect();
        Ok(plain_plan(format!("Fetch {}", urls.join(", "))))
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let urls = urls(&read(&job.arguments)?, &place.web)?;
        let mut fetched = Fetched { left: BUDGET, ..Fetched::default() };
        for url in &urls {
            tokio::select! {
                () = job.cancel.cancelled() => return Err(ToolError::Cancelled { so_far: String::new() }),
                page = place.web.fetch(url) => fetched.add(url, page),
            }
        }
        fetched.outcome(urls.len())
    }
}

#[derive(Default)]
struct Fetched {
    told: Vec<String>,
    media: Vec<Part>,
    failed: Vec<ToolError>,
    left: usize,
}

impl Fetched {
    fn add(&mut self, url: &Url, page: Result<Page, ToolError>) {
        match page {
            Ok(Page::Text(whole)) => {
                let end = whole.char_indices().nth(self.left).map_or(whole.len(), |(end, _)| end);
                self.left = self.left.saturating_sub(whole.chars().count());
                let cut = if end < whole.len() { "\n[cut: the answer is full]" } else { "" };
                self.told.push(format!("Content of {url}:\n{}{cut}", untrusted(&whole[..end])));
            }
            Ok(Page::Media(mime, bytes)) => {
                self.media.push(media(&mime, &bytes));
                self.told.push(format!("{url} ({mime}) is attached."));
            }
            Err(error) => {
                self.told.push(format!("Not fetched: {error}"));
                self.failed.push(error);
            }
        }
    }

    fn outcome(mut self, asked: usize) -> Result<Outcome, ToolError> {
        if self.failed.len() == asked
            && let Some(error) = self.failed.pop()
        {
            return Err(error);
        }
        let shown = format!("Fetched {} of {asked} page(s)", asked - self.failed.len());
        Ok(Outcome { media: self.media, ..text(self.told.join("\n\n"), shown) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_found_and_judged() {
        let web = Web::new(&WebOptions::default()).unwrap();
        let found = |prompt: &str| {
            let wanted = Wanted { url: None, prompt: Some(prompt.to_owned()) };
            urls(&wanted, &web).map(|urls| urls.iter().map(Url::to_string).collect::<Vec<_>>().join(" "))
        };
        for (prompt, expected) in [
            (
                "see https://example.com/a, and (http://example.org).",
                "https://example.com/a http://example.org/",
            ),
            ("https://github.com/o/r/blob/main/a.rs", "https://raw.githubusercontent.com/o/r/main/a.rs"),
        ] {
            assert_eq!(found(prompt).unwrap(), expected);
        }
        for (prompt, kind) in [
            ("nothing here", "web_fetch_no_url_in_prompt"),
            ("ftp://example.com", "web_fetch_no_url_in_prompt"),
            ("http://127.0.0.1/", "invalid_tool_params"),
            ("http://2130706433/", "invalid_tool_params"),
            ("http://[::1]:80/", "invalid_tool_params"),
            ("http://localhost/", "invalid_tool_params"),
            ("http://user:pw@example.com/", "invalid_tool_params"),
        ] {
            let refused = matches!(found(prompt), Err(ToolError::Failed { kind: k, .. }) if k == kind);
            assert!(refused, "{prompt}");
        }
    }
}
