//! What a conversion changed, gathered while it works.

use crate::domain::change::{Change, How};

/// In the order in which it was met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report(Vec<Change>);

impl Report {
    pub fn ignored(&mut self, field: impl Into<String>, why: &str) {
        self.add(field, How::Ignored, why);
    }

    pub fn dropped(&mut self, field: impl Into<String>, why: &str) {
        self.add(field, How::Dropped, why);
    }

    pub fn altered(&mut self, field: impl Into<String>, why: &str) {
        self.add(field, How::Altered, why);
    }

    pub fn guessed(&mut self, field: impl Into<String>, why: &str) {
        self.add(field, How::Guessed, why);
    }

    fn add(&mut self, field: impl Into<String>, how: How, why: &str) {
        self.0.push(Change { field: field.into(), how, why: why.to_owned() });
    }

    pub fn extend(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.0.extend(changes);
    }

    pub fn changes(&self) -> &[Change] {
        &self.0
    }
}
