//! What a conversion changed, gathered while it works.

use crate::domain::change::{Change, How};
use crate::domain::error::Error;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order in which they were met.
    changes: Vec<Change>,
    /// What nobody asked for, by the hub's names.
    ours: Vec<&'static str>,
}

/// What the hub's fields are called by a client, the longer names first.
pub type Names = &'static [(&'static str, &'static str)];

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
        self.changes.push(Change { field: field.into(), how, why: why.to_owned() });
    }

    /// The hub's field holds what was chosen here: if a model takes it otherwise, the client gets nothing else than it asked
    /// for.
    pub fn ours(&mut self, field: &'static str) {
        self.ours.push(field);
    }

    /// What a model changed, in the words of the client.
    pub fn told(&mut self, changes: Vec<Change>, names: Names) {
        for mut change in changes {
            if self.ours.iter().any(|ours| below(&change.field, ours).is_some()) {
                change.how = How::Ignored;
            }
            let named = names
                .iter()
                .find_map(|(hub, client)| Some(format!("{client}{}", below(&change.field, hub)?)));
            change.field = named.unwrap_or(change.field);
            self.changes.push(change);
        }
    }

    /// Nothing is left of what was said: the reason, where one was told.
    pub fn empty(&self, field: &str) -> Error {
        match self.changes.iter().find(|change| change.how == How::Dropped) {
            Some(Change { field, why, .. }) => {
                Error::field(field, format!("{why}, and nothing else is said"))
            }
            None => Error::field(field, "says nothing; say something"),
        }
    }

    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// What is left of a field behind this one; none if it is another.
fn below<'a>(field: &'a str, this: &str) -> Option<&'a str> {
    field.strip_prefix(this).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_changed_is_told_in_the_words_of_the_client() {
        let change = |field: &str| Change { field: field.to_owned(), how: How::Altered, why: String::new() };
        let names: Names = &[("a.b.c", "x"), ("a.b", "y"), ("d", "z")];
        let mut report = Report::default();
        report.ours("a.b.e");
        let fields = ["a.b.c", "a.b.e.f", "a.bc", "d[1].g", "other"];
        report.told(fields.iter().map(|field| change(field)).collect(), names);
        let told: Vec<_> = report.changes().iter().map(|c| (c.field.as_str(), c.how)).collect();
        let altered = How::Altered;
        assert_eq!(
            told,
            [
                ("x", altered),
                ("y.e.f", How::Ignored),
                ("a.bc", altered),
                ("z[1].g", altered),
                ("other", altered)
            ]
        );
    }
}
