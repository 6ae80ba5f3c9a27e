//! Performs the lines of a rule: each becomes steps, and waits are waited for.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde::Deserialize;

use super::line::{Line, Thing, Thinking, Thought};
use crate::domain::brain::{End, Step, Turn};
use crate::domain::reference::{Reference, resolve};
use crate::proto::a2a::part::Content;
use crate::proto::a2a::{Artifact, Message, Part};
use crate::proto::devtool::AgentThought;
use crate::proto::wkt;

pub(super) fn steps(lines: Arc<[Line]>, turn: Turn) -> BoxStream<'static, Step> {
    let message = turn.messages.last().cloned().unwrap_or_default();
    let performed = stream::iter(0..lines.len()).then(move |number| {
        let steps = match &lines[number] {
            // Nothing to say, but something to wait for.
            Line::Wait(time) => Err(*time),
            other => Ok(line_steps(other, &message, &turn)),
        };
        async move {
            match steps {
                Ok(steps) => steps,
                Err(time) => {
                    tokio::time::sleep(time).await;
                    Vec::new()
                }
            }
        }
    });
    performed.flat_map(stream::iter).boxed()
}

fn line_steps(line: &Line, message: &Message, turn: &Turn) -> Vec<Step> {
    match line {
        Line::Say(pieces) => pieces.as_slice().iter().map(|piece| Step::Text(fill(piece, message))).collect(),
        Line::Think(thinking) => {
            let Thought { subject, description } = match thinking.clone() {
                Thinking::Text(description) => Thought { subject: String::new(), description },
                Thinking::Thought(thought) => thought,
            };
            vec![Step::Thought(AgentThought { subject, description })]
        }
        Line::Artifact(thing) => artifact(thing, message, turn),
        Line::Ask(question) => vec![Step::End(End::InputRequired(fill(question, message)))],
        // A rule with a reply makes no task; where a task is there already, its words complete it.
        Line::Reply(text) => vec![Step::End(End::Completed(Some(fill(text, message))))],
        Line::Complete(text) => {
            vec![Step::End(End::Completed(text.as_ref().map(|text| fill(text, message))))]
        }
        Line::Reject(why) => vec![Step::End(End::Rejected(fill(why, message)))],
        Line::Fail(why) => vec![Step::End(End::Failed(fill(why, message)))],
        // The model's lines stand in no rule with the agent's, and waiting is done elsewhere.
        _ => Vec::new(),
    }
}

/// `{text}` is what the user said.
pub(super) fn fill(text: &str, message: &Message) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    text.replace("{text}", &message.text())
}

fn artifact(thing: &Thing, message: &Message, turn: &Turn) -> Vec<Step> {
    let name = if thing.refine {
        match resolve(message, &turn.references) {
            Reference::One(artifact) => artifact.name.clone(),
            Reference::Several(names) => return vec![ask(&names)],
            Reference::Nothing => thing.name.clone(),
        }
    } else {
        thing.name.clone()
    };
    let contents = contents(thing, message);
    let last = contents.len().saturating_sub(1);
    let artifact_id = uuid::Uuid::now_v7().to_string();
    let piece = |(index, content): (usize, Content)| {
        let part = Part {
            content: Some(content),
            filename: thing.filename.clone(),
            media_type: thing.media_type.clone(),
            metadata: None,
        };
        let artifact = Artifact {
            artifact_id: artifact_id.clone(),
            name: name.clone(),
            description: thing.description.clone(),
            parts: vec![part],
            ..Artifact::default()
        };
        Step::Artifact { artifact: Box::new(artifact), append: index > 0, last_chunk: index == last }
    };
    contents.into_iter().enumerate().map(piece).collect()
}

fn ask(names: &[&str]) -> Step {
    let (last, before) = names.split_last().unwrap_or((&"", &[]));
    Step::End(End::InputRequired(format!("Which one do you mean: {} or {last}?", before.join(", "))))
}

/// A script was checked when it was read, so that each artifact has one content.
fn contents(thing: &Thing, message: &Message) -> Vec<Content> {
    if let Some(pieces) = &thing.text {
        return pieces.as_slice().iter().map(|piece| Content::Text(fill(piece, message))).collect();
    }
    let bytes = thing.bytes.as_ref().and_then(|text| STANDARD.decode(text).ok());
    let bytes = bytes.map(|bytes| Content::Raw(bytes.into()));
    let url = thing.url.clone().map(Content::Url);
    let data = thing.data.as_ref().and_then(|data| wkt::Value::deserialize(data).ok()).map(Content::Data);
    bytes.or(url).or(data).into_iter().collect()
}
