//! `web_fetch`: pages of the web. Where the model can read the web itself it is asked what a prompt wants to know of
//! them; else, and where it could not read them either, they are fetched here and told as text.

use async_trait::async_trait;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use super::asks::WebTool;
use super::shape::{Job, Place, Tool, declaration, plain_plan, read, text};
use super::text::{media, untrusted};
use super::web::{Page, Web};
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};
use crate::proto::gemini::Part;

const MOST_URLS: usize = 20;
/// For all pages together, in characters.
const BUDGET: usize = 250_000;

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
            "Fetches pages of the web. Give one url to get it as text, or as an attachment if it is an image or a PDF; or \
             a prompt with up to 20 URLs in it, and what you want to know of them. Only http and https, and nothing on \
             private networks.",
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
        let wanted: Wanted = read(&job.arguments)?;
        let urls = urls(&wanted, &place.web)?;
        let work = async {
            match asked(&wanted, &urls, place).await {
                Some(outcome) => Ok(outcome),
                None => fetched(&urls, &place.web).await,
            }
        };
        tokio::select! {
            () = job.cancel.cancelled() => Err(ToolError::Cancelled { so_far: String::new() }),
            outcome = work => outcome,
        }
    }
}

/// What the model found there, if it can look and did. What only this machine can reach is not told to others.
async fn asked(wanted: &Wanted, urls: &[Url], place: &Place) -> Option<Outcome> {
    let (asks, prompt) = (place.asks.as_ref()?, wanted.prompt.as_deref()?);
    if !urls.iter().all(|url| place.web.is_public(url)) {
        return None;
    }
    let prompt = match &wanted.url {
        Some(url) if !prompt.contains(url) => format!("{prompt}\n{url}"),
        _ => prompt.to_owned(),
    };
    let answer = tokio::time::timeout(place.web.asked, asks.ask(WebTool::UrlContext, prompt)).await;
    let (answer, asked) = (answer.ok()?.ok()?, urls.len());
    // Without a source it would be an answer from memory.
    let read = answer.sources();
    if read == 0 || answer.is_empty() {
        return None;
    }
    let shown = format!("{} answered from {read} source(s) for {asked} page(s)", asks.model());
    Some(text(untrusted(&answer.cited()), shown))
}

async fn fetched(urls: &[Url], web: &Web) -> Result<Outcome, ToolError> {
    let mut fetched = Fetched { left: BUDGET, ..Fetched::default() };
    for url in urls {
        fetched.add(url, web.fetch(url).await);
    }
    fetched.outcome(urls.len())
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
    use super::super::web::WebOptions;
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
