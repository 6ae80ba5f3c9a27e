//! A request as a given model takes it: what it cannot take is said in another way, or left out and told. Both the preview and
//! the call go through here, so that one says what the other does. Pure.

mod answers;
mod json;
mod output;
mod safety;
mod thinking;
mod tools;

use super::{Abilities, history, schema};
use crate::domain::change::{Change, How};
use crate::model::names::{Names, Rule};
use crate::proto::gemini::{Content, GenerateContentRequest};

/// A request that goes out.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) request: GenerateContentRequest,
    pub(super) changes: Vec<Change>,
    /// Functions that are called something else there.
    pub(super) names: Names,
}

pub(super) fn fit(mut request: GenerateContentRequest, abilities: &Abilities) -> Fitted {
    let mut changes = Changes::default();
    tools::fit(&mut request, abilities, &mut changes);
    json::fit(&mut request, abilities, &mut changes);
    schema::fit(&mut request, abilities.json_schema, &mut changes.0);
    safety::fit(&mut request.safety_settings, abilities, &mut changes);
    if let Some(mut config) = request.generation_config.take() {
        thinking::fit(&mut config, &abilities.thinking, &mut changes);
        output::fit(&mut config, abilities, &mut changes);
        request.generation_config = Some(config);
    }
    request.system_instruction = request.system_instruction.and_then(spoken);
    if !abilities.media_in_answers {
        answers::part_media(&mut request.contents, &mut changes);
    }
    request.contents = history::mended(request.contents, abilities, &mut changes);
    let names = Names::fit(&mut request, Rule::Gemini, &mut changes.0);
    Fitted { request, changes: changes.0, names }
}

/// Without parts that say nothing, if anything remains.
fn spoken(content: Content) -> Option<Content> {
    let parts: Vec<_> = content.parts.into_iter().filter(history::says_something).collect();
    (!parts.is_empty()).then_some(Content { parts, ..content })
}

/// What is told of it.
#[derive(Debug, Default)]
pub(super) struct Changes(Vec<Change>);

impl Changes {
    pub(super) fn ignored(&mut self, field: impl Into<String>, why: impl Into<String>) {
        self.add(field, How::Ignored, why);
    }

    pub(super) fn dropped(&mut self, field: impl Into<String>, why: impl Into<String>) {
        self.add(field, How::Dropped, why);
    }

    pub(super) fn altered(&mut self, field: impl Into<String>, why: impl Into<String>) {
        self.add(field, How::Altered, why);
    }

    pub(super) fn guessed(&mut self, field: impl Into<String>, why: impl Into<String>) {
        self.add(field, How::Guessed, why);
    }

    fn add(&mut self, field: impl Into<String>, how: How, why: impl Into<String>) {
        self.0.push(Change { field: field.into(), how, why: why.into() });
    }
}

#[cfg(test)]
mod tests;
