//! Thought signatures for clients that know nothing of them: kept on the shelf while answers go out, given back before the
//! next request goes out. What fails here is logged and fails no call, since a model can do without.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::domain::principal::Principal;
use crate::domain::shelf::{Item, Kind, Shelf};
use crate::facade::ledger::{Lost, Signed, Trail, Watch, lost, sign};
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

/// Only the last turn must be signed; so many calls back it is worth it for the sake of the thoughts.
const MOST: usize = 512;
/// What Google's models are called.
const GOOGLES: [&str; 2] = ["gemini", "gemma"];

/// What was signed, on the shelf.
#[derive(Clone, Default)]
pub struct Ledger {
    /// None remembers nothing.
    shelf: Option<Arc<dyn Shelf>>,
    keep: Duration,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("keep", &self.keep).finish_non_exhaustive()
    }
}

impl Ledger {
    pub fn new(shelf: Arc<dyn Shelf>, keep: Duration) -> Self {
        Self { shelf: Some(shelf), keep }
    }

    /// Signs the calls of a conversation that lost their signatures on the way, if the same backend made them that will
    /// be asked.
    pub async fn restore(&self, who: &Principal, upstream: &str, request: &mut GenerateContentRequest) {
        let Some(shelf) = self.shelf.as_ref().filter(|_| reads_signatures(upstream)) else { return };
        let mut lost = lost(&request.contents);
        lost.drain(..lost.len().saturating_sub(MOST));
        if lost.is_empty() {
            return;
        }
        let keys: Vec<String> = lost.iter().flat_map(|lost| lost.keys.iter().cloned()).collect();
        match shelf.get(who, Kind::Signature, keys, SystemTime::now()).await {
            Ok(found) => give_back(request, &lost, found, backend(upstream)),
            Err(error) => tracing::warn!(%error, "thought signatures cannot be looked up"),
        }
    }

    pub async fn keep(&self, who: &Principal, notes: Notes) {
        let Some(shelf) = self.shelf.as_ref().filter(|_| !notes.is_empty()) else { return };
        let Some(until) = SystemTime::now().checked_add(self.keep) else { return };
        let item = |key: String, value: &str| Item { kind: Kind::Signature, key, value: value.into(), until };
        let items = notes.watch.signed.into_iter().flat_map(|Signed { keys, signature }| {
            let value = format!("{}\n{signature}", notes.upstream);
            keys.into_iter().map(move |key| item(key, &value)).collect::<Vec<_>>()
        });
        if let Err(error) = shelf.put(who, items.collect()).await {
            tracing::warn!(%error, "thought signatures cannot be kept");
        }
    }
}

/// `found` is in the order of all keys.
fn give_back(request: &mut GenerateContentRequest, lost: &[Lost], found: Vec<Option<Vec<u8>>>, asked: &str) {
    let mut found = found.into_iter();
    for lost in lost {
        // To its end, because the next one's begin behind it.
        let values: Vec<_> = found.by_ref().take(lost.keys.len()).collect();
        if let Some(signature) = values.into_iter().flatten().find_map(|value| of_backend(value, asked)) {
            sign(&mut request.contents, lost, signature);
        }
    }
}

fn of_backend(value: Vec<u8>, asked: &str) -> Option<String> {
    let value = String::from_utf8(value).ok()?;
    let (origin, signature) = value.split_once('\n')?;
    (backend(origin) == asked).then(|| signature.to_owned())
}

/// Of `backend/model`.
fn backend(upstream: &str) -> &str {
    upstream.split_once('/').map_or(upstream, |(backend, _)| backend)
}

/// Google's do; where nobody says who is asked, it may be one of them.
fn reads_signatures(upstream: &str) -> bool {
    let model = upstream.rsplit('/').next().unwrap_or_default();
    upstream.is_empty() || GOOGLES.iter().any(|name| model.starts_with(name))
}

/// Signatures of one answer.
#[derive(Debug, Default)]
pub struct Notes {
    upstream: String,
    watch: Watch,
}

impl Notes {
    /// `request` is what is answered.
    pub fn new(upstream: String, request: &GenerateContentRequest) -> Self {
        Self { upstream, watch: Watch::new(Trail::of(&request.contents)) }
    }

    pub fn see(&mut self, chunk: &GenerateContentResponse) {
        for candidate in &chunk.candidates {
            let parts = candidate.content.iter().flat_map(|content| &content.parts);
            parts.for_each(|part| self.watch.see(candidate.index, part));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.watch.signed.is_empty()
    }
}

#[cfg(test)]
mod tests;
