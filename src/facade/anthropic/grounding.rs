//! What the model looked up by itself, as calls and results of the vendor's own tools, and as sources of what it said.

use serde::{Deserialize, Serialize};

use super::carrier;
use crate::proto::vendor;

/// `groundingMetadata`, as far as it is told on.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Grounding {
    pub(super) web_search_queries: Vec<String>,
    grounding_chunks: Vec<Chunk>,
    grounding_supports: Vec<Support>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk {
    web: Option<Web>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Web {
    uri: String,
    title: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Support {
    segment: Segment,
    grounding_chunk_indices: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Segment {
    text: String,
}

/// The vendor's words for a page that was found.
#[derive(Serialize)]
struct WebSearchResult<'a> {
    r#type: &'static str,
    title: &'a str,
    url: &'a str,
    encrypted_content: String,
    page_age: Option<&'a str>,
}

/// The vendor's words for where a sentence comes from.
#[derive(Serialize)]
struct Location<'a> {
    r#type: &'static str,
    url: &'a str,
    title: &'a str,
    encrypted_index: String,
    cited_text: String,
}

/// The vendor quotes no more of a text.
const QUOTED: usize = 150;

impl Grounding {
    /// What cannot be read is as good as nothing: the answer itself is there.
    pub(super) fn read(json: &str) -> Self {
        vendor::kept(json).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.web_search_queries.is_empty() && self.grounding_chunks.iter().all(|chunk| chunk.web.is_none())
    }

    /// What the search was asked with.
    pub(super) fn query(&self) -> String {
        serde_json::json!({ "query": self.web_search_queries.join(" | ") }).to_string()
    }

    /// Each as a JSON object.
    pub(super) fn citations(&self) -> Vec<String> {
        let page = |index: &usize| self.grounding_chunks.get(*index)?.web.as_ref();
        let cited = self.grounding_supports.iter().flat_map(|support| {
            support.grounding_chunk_indices.iter().filter_map(page).map(|web| Location {
                r#type: "web_search_result_location",
                url: &web.uri,
                title: &web.title,
                encrypted_index: carrier::nothing(),
                cited_text: support.segment.text.chars().take(QUOTED).collect(),
            })
        });
        cited.filter_map(|location| serde_json::to_string(&location).ok()).collect()
    }

    /// All that was found, as a JSON list.
    pub(super) fn results(&self) -> String {
        let found = self.grounding_chunks.iter().filter_map(|chunk| chunk.web.as_ref());
        let results: Vec<_> = found
            .map(|web| WebSearchResult {
                r#type: "web_search_result",
                title: &web.title,
                url: &web.uri,
                encrypted_content: carrier::nothing(),
                page_age: None,
            })
            .collect();
        serde_json::to_string(&results).unwrap_or_else(|_| "[]".to_owned())
    }
}

/// `urlContextMetadata`, as far as it is told on.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Fetched {
    pub(super) url_metadata: Vec<Page>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Page {
    retrieved_url: String,
    url_retrieval_status: String,
}

impl Fetched {
    pub(super) fn read(json: &str) -> Self {
        vendor::kept(json).unwrap_or_default()
    }
}

impl Page {
    pub(super) fn input(&self) -> String {
        serde_json::json!({ "url": self.retrieved_url }).to_string()
    }

    /// The model read the page; nobody else has it.
    pub(super) fn result(&self) -> String {
        let well = self.url_retrieval_status.ends_with("SUCCESS");
        let told = if well {
            let source = serde_json::json!({"type": "text", "media_type": "text/plain", "data": ""});
            let content = serde_json::json!({"type": "document", "source": source});
            serde_json::json!({"type": "web_fetch_result", "url": self.retrieved_url, "content": content})
        } else {
            serde_json::json!({"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"})
        };
        told.to_string()
    }
}
