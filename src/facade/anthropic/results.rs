//! What tools of the caller gave, as answers to the calls of the turn before: all of them, once each, in the order of the
//! calls.

use std::collections::{HashMap, VecDeque};

use super::parts;
use super::work::{Work, at};
use crate::domain::error::Error;
use crate::proto::anthropic::result_block::Block as Kind;
use crate::proto::anthropic::{ResultBlock, ToolResultBlock, result_content};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{FunctionResponse, Part};

/// A call that waits for its answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) path: String,
}

/// An answer, and where it stood.
pub(super) type Given = (String, ToolResultBlock);

/// An answer to every call. What answers none is told of and left out: models refuse it.
pub(super) fn answer(calls: Vec<Open>, given: Vec<Given>, work: &mut Work) -> Result<Vec<Part>, Error> {
    // By their ids, or many of them would take forever.
    let mut by_id: HashMap<String, VecDeque<(usize, Given)>> = HashMap::new();
    for (order, (path, result)) in given.into_iter().enumerate() {
        by_id.entry(result.tool_use_id.clone()).or_default().push_back((order, (path, result)));
    }
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        let response = match by_id.get_mut(&call.id).and_then(VecDeque::pop_front) {
            Some((_, (path, result))) => response(call, result, &path, work)?,
            None => missing(call, work),
        };
        answers.push(Part::of(Data::FunctionResponse(response)));
    }
    let mut orphans: Vec<_> = by_id.into_values().flatten().collect();
    orphans.sort_by_key(|(order, _)| *order);
    for (_, (path, result)) in orphans {
        let why = format!("there is no call {:?} right before it", result.tool_use_id);
        work.report.dropped(path, &why);
    }
    Ok(answers)
}

fn missing(call: Open, work: &mut Work) -> FunctionResponse {
    work.report.guessed(call.path, "has no tool_result; the model is told that there is none");
    let response = r#"{"error":"the tool gave no result"}"#.to_owned();
    FunctionResponse { id: call.id, name: call.name, response, ..FunctionResponse::default() }
}

fn response(
    call: Open,
    result: ToolResultBlock,
    path: &str,
    work: &mut Work,
) -> Result<FunctionResponse, Error> {
    work.cache_control(path, &result.cache_control);
    work.unknown(path, &result.extra);
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    match result.content.and_then(|content| content.kind) {
        None => {}
        Some(result_content::Kind::Text(text)) => texts.push(text),
        Some(result_content::Kind::Blocks(blocks)) => {
            for (index, block) in blocks.blocks.into_iter().enumerate() {
                take(block, &format!("{}[{index}]", at(path, "content")), work, &mut texts, &mut parts)?;
            }
        }
    }
    let key = if result.is_error == Some(true) { "error" } else { "output" };
    let response = serde_json::json!({ key: texts.join("\n") }).to_string();
    Ok(FunctionResponse { id: call.id, name: call.name, response, parts })
}

/// Words go together; what is no words goes beside them.
fn take(
    block: ResultBlock,
    path: &str,
    work: &mut Work,
    texts: &mut Vec<String>,
    parts: &mut Vec<Part>,
) -> Result<(), Error> {
    let read = match block.block {
        Some(Kind::Text(text)) => {
            work.cache_control(path, &text.cache_control);
            vec![Part::text(text.text)]
        }
        Some(Kind::Image(image)) => vec![parts::image(image, path, work)?],
        Some(Kind::Document(document)) => parts::document(document, path, work)?,
        Some(Kind::SearchResult(found)) => parts::search_result(found, path, work)?,
        Some(Kind::Other(json)) => {
            work.report.altered(path, "is of a type that is not known here, and is told as it stands");
            vec![Part::text(json)]
        }
        None => return Err(Error::field(path, "is no block")),
    };
    for part in read {
        match part.data {
            Some(Data::Text(text)) => texts.push(text),
            _ => parts.push(part),
        }
    }
    Ok(())
}
