//! Blots secrets out of a recording: those that the server holds, as they are and as JSON prints them, if they are long
//! enough to be told from words, and whatever has the shape of one, also where an answer came in pieces that cut it apart. Pure; the writer calls it.

mod shapes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use crate::domain::secret::Secret;
use crate::model::rehearsal::{Outcome, SECRET, Take};
use crate::proto::gemini::GenerateContentResponse;
use crate::proto::gemini::part::Data;
use crate::proto::vendor;

#[derive(Debug)]
pub(super) struct Blot {
    secrets: RwLock<Vec<Forms>>,
}

/// A secret as it is, as JSON prints it, and as JSON prints it within a text within JSON.
#[derive(PartialEq)]
struct Forms([String; 3]);

impl Forms {
    fn of(secret: &str) -> Self {
        let (once, twice) = (escaped(secret), escaped(&escaped(secret)));
        Self([secret.to_owned(), once, twice])
    }
}

impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Blot {
    pub(super) fn new(secrets: &[Secret]) -> Self {
        let blot = Self { secrets: RwLock::default() };
        blot.add(secrets);
        blot
    }

    /// Those that it knows stay: what was asked with them may still be answered.
    pub(super) fn add(&self, secrets: &[Secret]) {
        let mut known = self.secrets.write().unwrap_or_else(PoisonError::into_inner);
        for secret in secrets.iter().filter(|secret| secret.is_telling()) {
            let forms = Forms::of(secret.expose());
            if !known.contains(&forms) {
                known.push(forms);
            }
        }
    }

    pub(super) fn take(&self, mut take: Take) -> Take {
        take.said = self.text(&take.said);
        if let Outcome::Failed(error) = &mut take.end.1 {
            error.message = self.text(&error.message);
        }
        self.streamed(take.chunks.iter_mut().map(|(_, chunk)| chunk));
        take.chunks.iter_mut().for_each(|(_, chunk)| self.chunk(chunk));
        take
    }

    fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        self.pieces(&mut [&mut text]);
        text
    }

    /// What was said, and what was thought, across the chunks.
    fn streamed<'a>(&self, chunks: impl Iterator<Item = &'a mut GenerateContentResponse>) {
        let mut streams: BTreeMap<(i32, bool), Vec<&mut String>> = BTreeMap::new();
        for candidate in chunks.flat_map(|chunk| &mut chunk.candidates) {
            let index = candidate.index;
            for part in candidate.content.iter_mut().flat_map(|content| &mut content.parts) {
                if let Some(Data::Text(text)) = &mut part.data {
                    streams.entry((index, part.thought)).or_default().push(text);
                }
            }
        }
        streams.values_mut().for_each(|pieces| self.pieces(pieces));
    }

    /// Every text in it, of whatever member; names of members are no texts. What cannot be read any more afterwards is left out.
    fn chunk(&self, chunk: &mut GenerateContentResponse) {
        let mut json = Vec::new();
        if vendor::encode(chunk, &mut json).is_err() {
            // Nor can it be written.
            return;
        }
        let json = String::from_utf8_lossy(&json);
        let blotted = self.json(&json);
        if blotted != json {
            *chunk = vendor::decode(blotted.as_bytes()).unwrap_or_default();
        }
    }

    /// Texts are looked at as they are meant; all else stays byte for byte.
    fn json(&self, json: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(json.len()), json);
        while let Some(open) = rest.find('"') {
            let length = string_length(&rest[open..]);
            let (before, token) = (&rest[..open], &rest[open..open + length]);
            rest = &rest[open + length..];
            out += before;
            match rest.trim_start().starts_with(':') {
                true => out += token,
                false => out += &self.token(token),
            }
        }
        out + rest
    }

    fn token(&self, token: &str) -> String {
        // Half of a pair of surrogates is no text, but JSON nevertheless.
        let Ok(text) = serde_json::from_str::<String>(token) else { return self.text(token) };
        let blotted = self.text(&text);
        match blotted == text {
            true => token.to_owned(),
            false => format!("\"{}\"", escaped(&blotted)),
        }
    }

    /// The pieces are one text. A secret is blotted where it begins, and the pieces behind lose their share.
    fn pieces(&self, pieces: &mut [&mut String]) {
        let whole: String = pieces.iter().map(|piece| piece.as_str()).collect();
        let found = self.find(&whole);
        if found.is_empty() {
            return;
        }
        let mut begin = 0;
        for piece in pieces {
            let here = begin..begin + piece.len();
            begin = here.end;
            **piece = without(&whole, here, &found);
        }
    }

    /// Where secrets stand, in order and apart from each other.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        let forms = secrets.iter().flat_map(|forms| &forms.0);
        let known =
            forms.flat_map(|form| text.match_indices(form.as_str())).map(|(at, form)| at..at + form.len());
        let mut found: Vec<Range<usize>> = known.chain(shapes::find(text)).collect();
        found.sort_by_key(|range| range.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in found {
            match apart.last_mut().filter(|last| range.start < last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => apart.push(range),
            }
        }
        apart
    }
}

fn without(whole: &str, here: Range<usize>, secrets: &[Range<usize>]) -> String {
    let (mut out, mut at) = (String::new(), here.start);
    for secret in secrets.iter().filter(|secret| secret.end > here.start && secret.start < here.end) {
        out += &whole[at..secret.start.max(at)];
        if here.contains(&secret.start) {
            out += SECRET;
        }
        at = secret.end.min(here.end);
    }
    out + &whole[at..here.end]
}

/// From quote to quote.
fn string_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return at + 1,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    text.len()
}

/// As JSON prints it between its quotes.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}
