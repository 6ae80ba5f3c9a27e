//! The model's lines without a turn loop: what it says and thinks is performed, and its calls are only told. The agent uses
//! it as long as it has no loop of its own.

use futures::StreamExt;
use futures::stream::{self, BoxStream};

use crate::domain::brain::{End, Step};
use crate::domain::model::{Chunks, ModelError};
use crate::proto::devtool::AgentThought;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentRequest, GenerateContentResponse, Part};

/// What a user says, as a model is asked.
pub(super) fn request(text: String) -> GenerateContentRequest {
    let content = Content { role: "user".to_owned(), parts: vec![Part::of(Data::Text(text))] };
    GenerateContentRequest { contents: vec![content], ..GenerateContentRequest::default() }
}

pub(super) fn steps(chunks: Chunks) -> BoxStream<'static, Step> {
    chunks.map(chunk_steps).flat_map(stream::iter).boxed()
}

fn chunk_steps(chunk: Result<GenerateContentResponse, ModelError>) -> Vec<Step> {
    match chunk {
        Err(error) => vec![Step::End(End::Failed(error.message))],
        Ok(chunk) => {
            let contents = chunk.candidates.into_iter().filter_map(|candidate| candidate.content);
            contents.flat_map(|content| content.parts).filter_map(step).collect()
        }
    }
}

fn step(part: Part) -> Option<Step> {
    match part.data? {
        Data::Text(text) if text.is_empty() => None,
        Data::Text(text) if part.thought => Some(Step::Thought(thought(&text))),
        Data::Text(text) => Some(Step::Text(text)),
        Data::FunctionCall(call) => Some(Step::Text(format!("({} {})", call.name, call.args))),
        _ => None,
    }
}

/// `**Subject** description`.
fn thought(text: &str) -> AgentThought {
    let (subject, description) =
        text.strip_prefix("**").and_then(|rest| rest.split_once("**")).unwrap_or(("", text));
    AgentThought { subject: subject.to_owned(), description: description.trim_start().to_owned() }
}
