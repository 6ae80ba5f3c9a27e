//! What a schema loses, and where.

use crate::domain::change::{Change, How};

/// Nobody reads more.
const MOST: usize = 1000;

/// In the order in which it was met.
#[derive(Debug)]
pub(super) struct Losses<'a> {
    path: String,
    changes: &'a mut Vec<Change>,
}

/// Where it was before.
pub(super) struct Mark(usize);

impl<'a> Losses<'a> {
    /// `path` is where the schema stands.
    pub(super) fn at(path: String, changes: &'a mut Vec<Change>) -> Self {
        Self { path, changes }
    }

    /// What is told from now on lies at this member.
    pub(super) fn enter(&mut self, step: &str) -> Mark {
        let mark = Mark(self.path.len());
        self.path.push_str(step);
        mark
    }

    pub(super) fn leave(&mut self, mark: Mark) {
        self.path.truncate(mark.0);
    }

    pub(super) fn ignored(&mut self, keyword: &str, why: &str) {
        self.add(keyword, How::Ignored, why);
    }

    pub(super) fn dropped(&mut self, keyword: &str, why: &str) {
        self.add(keyword, How::Dropped, why);
    }

    pub(super) fn altered(&mut self, keyword: &str, why: &str) {
        self.add(keyword, How::Altered, why);
    }

    pub(super) fn guessed(&mut self, keyword: &str, why: &str) {
        self.add(keyword, How::Guessed, why);
    }

    fn add(&mut self, keyword: &str, how: How, why: &str) {
        let field = format!("{}{}{keyword}", self.path, if keyword.is_empty() { "" } else { "." });
        if self.changes.len() < MOST {
            self.changes.push(Change { field, how, why: why.to_owned() });
        }
    }
}
