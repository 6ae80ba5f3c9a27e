//! An answer with its sources: marks where a source speaks, and the list of them. Pure; whatever a model says about
//! places and sources that do not exist is left out.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Candidate, Part};

#[derive(Debug, Default)]
pub(super) struct Answer {
    parts: Vec<Part>,
    grounding: Grounding,
    pages: Vec<Page>,
}

/// As much of Gemini's grounding metadata as is told on.
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
    title: String,
    uri: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Support {
    segment: Segment,
    grounding_chunk_indices: Vec<i64>,
}

/// A place in one part, in bytes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Segment {
    part_index: i64,
    end_index: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UrlContext {
    url_metadata: Vec<Page>,
}

/// A page that the model wanted to read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Page {
    retrieved_url: String,
    url_retrieval_status: String,
}

impl Page {
    fn was_read(&self) -> bool {
        self.url_retrieval_status == "URL_RETRIEVAL_STATUS_SUCCESS"
    }
}

impl Answer {
    pub(super) fn of(candidate: Candidate) -> Self {
        Self {
            parts: candidate.content.map(|content| content.parts).unwrap_or_default(),
            grounding: told(&candidate.grounding_metadata),
            pages: told::<UrlContext>(&candidate.url_context_metadata).url_metadata,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().filter_map(visible).all(|text| text.trim().is_empty())
    }

    /// Whether it is from the web at all, and not from memory.
    pub(super) fn was_searched(&self) -> bool {
        let Grounding { web_search_queries, grounding_chunks, .. } = &self.grounding;
        !web_search_queries.is_empty() || !grounding_chunks.is_empty()
    }

    /// How many there are that it can rest on.
    pub(super) fn sources(&self) -> usize {
        // What was not read was not found either, whatever is cited.
        let unread = !self.pages.is_empty() && !self.pages.iter().any(Page::was_read);
        if unread { 0 } else { self.list().len() }
    }

    /// The text with a mark behind each passage that has a source, the sources, and the pages that were not read.
    pub(super) fn cited(&self) -> String {
        let texts = self.parts.iter().enumerate().filter_map(|(index, part)| Some((index, visible(part)?)));
        let mut cited: String = texts.map(|(index, text)| self.marked(index, text)).collect();
        let sources = self.list();
        if !sources.is_empty() {
            let numbered =
                sources.iter().enumerate().map(|(index, source)| format!("[{}] {source}", index + 1));
            cited = format!("{cited}\n\nSources:\n{}", numbered.collect::<Vec<_>>().join("\n"));
        }
        for page in self.pages.iter().filter(|page| !page.was_read()) {
            cited = format!("{cited}\n\nNot read: {}", page.retrieved_url);
        }
        cited
    }

    fn list(&self) -> Vec<String> {
        let chunks = &self.grounding.grounding_chunks;
        if chunks.is_empty() {
            return self.pages.iter().filter(|p| p.was_read()).map(|p| p.retrieved_url.clone()).collect();
        }
        let named =
            |given: &str, otherwise: &str| if given.is_empty() { otherwise } else { given }.to_owned();
        let source = |chunk: &Chunk| {
            let (title, uri) = chunk.web.as_ref().map_or(("", ""), |web| (&web.title, &web.uri));
            format!("{} ({})", named(title, "Untitled"), named(uri, "no address"))
        };
        chunks.iter().map(source).collect()
    }

    fn marked(&self, part: usize, text: &str) -> String {
        let supports = self.grounding.grounding_supports.iter();
        let of_part = supports.filter(|support| usize::try_from(support.segment.part_index) == Ok(part));
        let mut marks: Vec<(usize, String)> = Vec::new();
        for mark in of_part.filter_map(|support| Some((end(&support.segment, text)?, self.mark(support)))) {
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        }
        // From the end on, so that no place moves before its mark is set. Those of one place keep their order.
        marks.sort_by_key(|(end, _)| *end);
        let mut marked = text.to_owned();
        marks.iter().rev().for_each(|(end, mark)| marked.insert_str(*end, mark));
        marked
    }

    fn mark(&self, support: &Support) -> String {
        let known = 0..self.grounding.grounding_chunks.len() as i64;
        let indices = support.grounding_chunk_indices.iter().filter(|index| known.contains(index));
        indices.map(|index| format!("[{}]", index + 1)).collect()
    }
}

/// What cannot be read says nothing.
fn told<T: DeserializeOwned + Default>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_default()
}

fn visible(part: &Part) -> Option<&str> {
    match &part.data {
        Some(Data::Text(text)) if !part.thought => Some(text),
        _ => None,
    }
}

/// Behind the last character of the segment that is there.
fn end(segment: &Segment, text: &str) -> Option<usize> {
    let end = usize::try_from(segment.end_index).ok()?;
    Some(text.ceil_char_boundary(end.min(text.len())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::proto::gemini::Content;

    fn answer(texts: &[&str], grounding: &Value, pages: &Value) -> Answer {
        let parts = texts.iter().map(|text| Part::text(*text)).collect();
        Answer::of(Candidate {
            content: Some(Content { role: "model".to_owned(), parts }),
            grounding_metadata: grounding.to_string(),
            url_context_metadata: pages.to_string(),
            ..Candidate::default()
        })
    }

    fn support(end: i64, chunks: &[i64]) -> Value {
        json!({"segment": {"endIndex": end}, "groundingChunkIndices": chunks})
    }

    /// With two sources.
    fn marked(texts: &[&str], supports: &[Value]) -> String {
        let chunks = json!([{"web": {"uri": "u1", "title": "t1"}}, {"web": {}}]);
        let grounding = json!({"groundingChunks": chunks, "groundingSupports": supports});
        let cited = answer(texts, &grounding, &Value::Null).cited();
        cited
            .strip_suffix("\n\nSources:\n[1] t1 (u1)\n[2] Untitled (no address)")
            .expect("sources")
            .to_owned()
    }

    #[test]
    fn marks_stand_where_bytes_end() {
        for (supports, expected) in [
            (vec![], "Grüße, 世界!"),
            (vec![support(7, &[0])], "Grüße[1], 世界!"),
            (vec![support(15, &[0, 1]), support(7, &[1])], "Grüße[2], 世界[1][2]!"),
            (vec![support(7, &[0]), support(7, &[1]), support(7, &[0])], "Grüße[1][2], 世界!"),
            (vec![support(7, &[0]), support(7, &[0])], "Grüße[1], 世界!"),
            // Inside a character, behind the end, before the start, and of sources that are not there.
            (vec![support(10, &[0])], "Grüße, 世[1]界!"),
            (vec![support(99, &[0])], "Grüße, 世界![1]"),
            (vec![support(-1, &[0])], "Grüße, 世界!"),
            (vec![support(7, &[2, -1, 0])], "Grüße[1], 世界!"),
            (
                vec![json!({"segment": {"partIndex": 1, "endIndex": 1}, "groundingChunkIndices": [0]})],
                "Grüße, 世界!",
            ),
            (vec![json!({"groundingChunkIndices": [0]})], "[1]Grüße, 世界!"),
        ] {
            assert_eq!(marked(&["Grüße, 世界!"], &supports), expected, "{supports:?}");
        }
    }

    #[test]
    fn bytes_count_within_their_part() {
        let second = json!({"segment": {"partIndex": 1, "endIndex": 1}, "groundingChunkIndices": [1]});
        assert_eq!(marked(&["ab", "cd"], &[second, support(2, &[0])]), "ab[1]c[2]d");
    }

    #[test]
    fn pages_are_the_sources_where_nothing_is_cited() {
        let page = |url: &str, status: &str| json!({"retrievedUrl": url, "urlRetrievalStatus": format!("URL_RETRIEVAL_STATUS_{status}")});
        let both = json!({"urlMetadata": [page("a", "SUCCESS"), page("b", "ERROR")]});
        let read = answer(&["text"], &Value::Null, &both);
        assert_eq!((read.sources(), read.cited().as_str()), (1, "text\n\nSources:\n[1] a\n\nNot read: b"));
        let none = json!({"urlMetadata": [page("b", "UNSAFE")]});
        let cites = json!({"groundingChunks": [{"web": {"uri": "u"}}]});
        assert_eq!(answer(&["text"], &cites, &none).sources(), 0);
        assert_eq!(answer(&["text"], &json!("odd"), &json!([])).sources(), 0);
        assert!(answer(&[" \n"], &Value::Null, &Value::Null).is_empty());
    }

    proptest! {
        /// Whatever a model says of places and sources, its words stay as they are.
        #[test]
        fn without_the_marks_it_is_the_text(text in "[a-zäß世 ]{0,20}", supports in prop::collection::vec((any::<i64>(), any::<i64>(), -1i64..4), 0..8)) {
            let supports: Vec<Value> = supports
                .iter()
                .map(|(part, end, chunk)| {
                    json!({"segment": {"partIndex": part % 2, "endIndex": end % 30}, "groundingChunkIndices": [chunk]})
                })
                .collect();
            let cited = marked(&[&text], &supports);
            prop_assert_eq!(cited.replace("[1]", "").replace("[2]", ""), text);
        }
    }
}
