//! Where the model has it from: sources as annotations, whose places are counted in characters, and searches as items.

use serde::Deserialize;
use serde_json::json;

use crate::proto::openai::WebSearchCallItem;
use crate::proto::vendor;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Grounding {
    web_search_queries: Vec<String>,
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
#[serde(rename_all = "camelCase", default)]
struct Support {
    segment: Segment,
    grounding_chunk_indices: Vec<usize>,
}

/// In bytes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Segment {
    start_index: usize,
    end_index: usize,
    text: String,
}

fn read(metadata: &str) -> Grounding {
    vendor::kept(metadata).unwrap_or_default()
}

/// Each as a JSON object, in the order of the metadata.
pub(super) fn citations(metadata: &str, text: &str) -> Vec<String> {
    let grounding = read(metadata);
    let mut found = Vec::new();
    for support in &grounding.grounding_supports {
        let Some((start, end)) = place(&support.segment, text) else { continue };
        let sources =
            support.grounding_chunk_indices.iter().filter_map(|at| grounding.grounding_chunks.get(*at));
        for Web { uri, title } in sources.filter_map(|chunk| chunk.web.as_ref()) {
            let citation = json!({
                "type": "url_citation", "start_index": start, "end_index": end, "url": uri, "title": title,
            });
            found.push(citation.to_string());
        }
    }
    found
}

/// In characters. Offsets count within a part of the model's, which need not be all of the text: its words decide.
fn place(segment: &Segment, text: &str) -> Option<(usize, usize)> {
    let Segment { start_index: start, end_index: end, text: words } = segment;
    let there = text.get(*start..*end).filter(|found| words.is_empty() || found == words);
    let start = match there {
        Some(_) => *start,
        None if words.is_empty() => return None,
        None => text.find(words.as_str())?,
    };
    let length = there.unwrap_or(words).chars().count();
    let before = text.get(..start)?.chars().count();
    Some((before, before + length))
}

/// None if nothing was looked up.
pub(super) fn search(metadata: &str, id: String, sources: bool) -> Option<WebSearchCallItem> {
    let grounding = read(metadata);
    if grounding.web_search_queries.is_empty() {
        return None;
    }
    let query = grounding.web_search_queries.first();
    let mut action = json!({"type": "search", "query": query, "queries": &grounding.web_search_queries});
    if sources {
        let webs = grounding.grounding_chunks.iter().filter_map(|chunk| chunk.web.as_ref());
        action["sources"] = webs.map(|web| json!({"type": "url", "url": web.uri})).collect();
    }
    let status = "completed".to_owned();
    Some(WebSearchCallItem { id, status, action: action.to_string(), ..WebSearchCallItem::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_and_found_by_their_words() {
        let segment =
            |start, end, text: &str| Segment { start_index: start, end_index: end, text: text.to_owned() };
        let text = "Über Bäume: grün.";
        for (segment, expected) in [
            (segment(14, 20, "grün."), Some((12, 17))),
            (segment(14, 20, ""), Some((12, 17))),
            (segment(0, 5, "Über"), Some((0, 4))),
            (segment(3, 9, "Bäume"), Some((5, 10))),
            (segment(1, 3, ""), None),
            (segment(90, 99, "none"), None),
        ] {
            assert_eq!(place(&segment, text), expected, "{segment:?}");
        }
    }
}
