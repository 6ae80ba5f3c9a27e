//! `google_web_search`: what the web says about a question, found and put together by a model that searches it. Asks
//! nobody but that model; there only where there is one.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::asks::WebTool;
use super::grounding::Answer;
use super::shape::{Job, Place, Tool, declaration, plain_plan, read, text};
use super::text::untrusted;
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};

const FAILED: &str = "web_search_failed";

#[derive(Deserialize)]
struct Wanted {
    query: String,
}

/// With something in it.
fn query(arguments: &Arguments) -> Result<String, ToolError> {
    let Wanted { query } = read(arguments)?;
    match query.trim() {
        "" => Err(ToolError::new("invalid_tool_params", "query: is empty; say what to search for")),
        query => Ok(query.to_owned()),
    }
}

pub(super) struct GoogleWebSearch;

#[async_trait]
impl Tool for GoogleWebSearch {
    fn declaration(&self) -> Declaration {
        declaration(
            "google_web_search",
            "GoogleSearch",
            Kind::Search,
            "Searches the web with Google and returns an answer, with a number behind each passage that has a source, \
             and the list of sources.",
            json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to find, as a question or in keywords."},
                },
                "required": ["query"],
            }),
        )
    }

    fn is_there(&self, place: &Place) -> bool {
        place.asks.is_some()
    }

    async fn plan(&self, _: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        Ok(plain_plan(format!("Search the web for {:?}", query(arguments)?)))
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let query = query(&job.arguments)?;
        let asks = place.asks.as_ref().ok_or_else(|| failed("no model here searches the web"))?;
        let answer = tokio::time::timeout(place.web.asked, asks.ask(WebTool::GoogleSearch, query.clone()));
        let answer = tokio::select! {
            () = job.cancel.cancelled() => return Err(ToolError::Cancelled { so_far: String::new() }),
            answer = answer => answer,
        };
        let late = |_| failed(format!("the search failed: no answer within {:?}", place.web.asked));
        let answer = answer.map_err(late)?.map_err(|error| failed(format!("the search failed: {error}")))?;
        outcome(&query, &answer)
    }
}

/// What was not searched for is no news of the web, however sure it sounds.
fn outcome(query: &str, answer: &Answer) -> Result<Outcome, ToolError> {
    if !answer.was_searched() {
        return Err(failed("the model did not search the web: its answer has no source"));
    }
    if answer.is_empty() {
        return Ok(text(format!("Nothing was found on the web for {query:?}."), "Nothing was found"));
    }
    let sources = answer.sources();
    let head = match sources {
        0 => "Said after a search, without a source, about",
        _ => "What the web says about",
    };
    let told = format!("{head} {query:?}:\n{}", untrusted(&answer.cited()));
    Ok(text(told, format!("Found {sources} source(s) for {query:?}")))
}

fn failed(message: impl Into<String>) -> ToolError {
    ToolError::new(FAILED, message)
}
