//! Where the model found what it says. Gemini counts bytes within a part; clients count characters of the whole message.

use serde::Deserialize;
use serde_json::json;

use super::choice::shown;
use crate::proto::gemini::Part;
use crate::proto::vendor;

/// What clients have seen, and which part each piece of it came from.
#[derive(Debug, Default)]
pub struct Said {
    text: String,
    /// Where each part begins and ends in it, in bytes; texts that come in pieces are one part.
    parts: Vec<Stretch>,
}

#[derive(Debug)]
struct Stretch {
    start: usize,
    end: usize,
    /// More of the same may follow.
    plain: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Grounding {
    grounding_chunks: Vec<Chunk>,
    grounding_supports: Vec<Support>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Chunk {
    web: Option<Place>,
    retrieved_context: Option<Place>,
    maps: Option<Place>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Place {
    uri: String,
    title: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Support {
    segment: Segment,
    grounding_chunk_indices: Vec<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Segment {
    part_index: usize,
    start_index: usize,
    end_index: usize,
    text: String,
}

impl Said {
    pub fn part(&mut self, part: &Part) {
        let shown = part.data.as_ref().filter(|_| !part.thought).and_then(shown);
        let plain = part.is_plain_text();
        let start = self.text.len();
        self.text.push_str(shown.as_deref().unwrap_or_default());
        let end = self.text.len();
        match self.parts.last_mut() {
            Some(last) if last.plain && plain => last.end = end,
            _ => self.parts.push(Stretch { start, end, plain }),
        }
    }

    /// One for each source of each stretch of text, each a JSON value.
    pub fn citations(&self, grounding: &str) -> Vec<String> {
        let Some(found) = vendor::kept::<Grounding>(grounding) else { return Vec::new() };
        let whole = found.grounding_supports.is_empty();
        let cite = |(start, end): (usize, usize), chunk: &Chunk| {
            let place = chunk.web.as_ref().or(chunk.retrieved_context.as_ref()).or(chunk.maps.as_ref())?;
            let citation =
                json!({"start_index": start, "end_index": end, "title": place.title, "url": place.uri});
            (!place.uri.is_empty())
                .then(|| json!({"type": "url_citation", "url_citation": citation}).to_string())
        };
        if whole {
            let all = (0, self.characters(self.text.len()));
            return found.grounding_chunks.iter().filter_map(|chunk| cite(all, chunk)).collect();
        }
        let mut citations = Vec::new();
        for support in &found.grounding_supports {
            let stretch = self.stretch(&support.segment);
            let chunks =
                support.grounding_chunk_indices.iter().filter_map(|at| found.grounding_chunks.get(*at));
            citations.extend(chunks.filter_map(|chunk| cite(stretch, chunk)));
        }
        citations
    }

    /// In characters of the whole. What does not fit is looked for by its text, and else stands at the end.
    fn stretch(&self, segment: &Segment) -> (usize, usize) {
        let part = self.parts.get(segment.part_index);
        let told = part.and_then(|part| {
            let (start, end) = (part.start + segment.start_index, part.start + segment.end_index);
            let text = self.text.get(start..end).filter(|_| end <= part.end)?;
            (segment.text.is_empty() || text == segment.text).then_some((start, end))
        });
        let by_text = || {
            let at = (!segment.text.is_empty()).then(|| self.text.find(&segment.text)).flatten()?;
            Some((at, at + segment.text.len()))
        };
        let (start, end) = told.or_else(by_text).unwrap_or((self.text.len(), self.text.len()));
        (self.characters(start), self.characters(end))
    }

    fn characters(&self, bytes: usize) -> usize {
        self.text.get(..bytes).map_or(0, |before| before.chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Said {
        let mut said = Said::default();
        texts.iter().for_each(|text| said.part(&Part::text(*text)));
        said
    }

    fn places(said: &Said, segments: &str) -> Vec<(u64, u64)> {
        let grounding = format!(
            r#"{{"groundingChunks":[{{"web":{{"uri":"https://x","title":"x"}}}}],"groundingSupports":[{segments}]}}"#
        );
        let read = |text: &String| -> serde_json::Value { serde_json::from_str(text).unwrap() };
        let place = |citation: serde_json::Value| {
            let at = |name: &str| citation["url_citation"][name].as_u64().unwrap();
            (at("start_index"), at("end_index"))
        };
        said.citations(&grounding).iter().map(read).map(place).collect()
    }

    #[test]
    fn bytes_of_a_part_become_characters_of_the_message() {
        let segment = |part: usize, start: usize, end: usize, text: &str| {
            format!(
                r#"{{"segment":{{"partIndex":{part},"startIndex":{start},"endIndex":{end},"text":"{text}"}},"groundingChunkIndices":[0]}}"#
            )
        };
        let one = said(&["Grüße", " aus Köln."]);
        // Ten and seventeen are bytes: two characters before them take two.
        assert_eq!(places(&one, &segment(0, 8, 17, "aus Köln")), [(6, 14)]);
        assert_eq!(places(&one, &segment(0, 0, 7, "Grüße")), [(0, 5)]);
        // In the middle of a character, and a text that says where it was meant.
        assert_eq!(places(&one, &segment(0, 3, 17, "aus Köln")), [(6, 14)]);
        assert_eq!(places(&one, &segment(0, 3, 999, "nowhere")), [(15, 15)]);
        let mut two = said(&["ä"]);
        two.part(&Part { thought: true, ..Part::text("hm") });
        two.part(&Part::text("böse"));
        assert_eq!(places(&two, &segment(2, 0, 5, "böse")), [(1, 5)]);
    }
}
