//! What a server was found not to take, so that it is asked in vain only once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::Abilities;

/// Names that clients make up must not add up.
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Learned(Mutex<HashSet<(String, Lesson)>>);

/// What a model's server refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lesson {
    /// Those of one conversation, which says nothing of the next.
    Signatures,
    /// Ids of calls.
    Ids,
    /// JSON schemas.
    Schemas,
}

impl Learned {
    /// It answered without that.
    pub(super) fn note(&self, model: &str, lesson: Lesson) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lesson != Lesson::Signatures && known.len() < MOST {
            known.insert((model.to_owned(), lesson));
        }
    }

    pub(super) fn lessen(&self, abilities: &mut Abilities, model: &str) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has = |lesson| !known.is_empty() && known.contains(&(model.to_owned(), lesson));
        abilities.call_ids &= !has(Lesson::Ids);
        abilities.json_schema &= !has(Lesson::Schemas);
    }
}
