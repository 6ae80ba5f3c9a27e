//! What became of calls.

use serde_json::{Value, json};

use super::part::{self, Media};
use crate::domain::error::Error;
use crate::facade::{Remote, Report};
use crate::proto::gemini::Part;
use crate::proto::gemini::part::Data;
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::{CallOutputItem, Item, ItemContent, ShellCallOutputItem, item_content};
use crate::proto::vendor;

#[derive(Debug)]
pub(super) struct Output {
    /// Where it stood.
    pub(super) at: String,
    /// A JSON object.
    pub(super) response: String,
    pub(super) parts: Vec<Part>,
}

impl Output {
    /// Every call has an answer, or the model refuses all of them.
    pub(super) fn missing() -> Self {
        let response = json!({"error": "the call was not carried out; nothing is known of it"});
        Self { at: String::new(), response: response.to_string(), parts: Vec::new() }
    }
}

/// The output that an item is, and the id of its call. The item itself stays and says where a turn ends.
pub(super) fn take(
    item: &mut Item,
    at: &str,
    remote: &mut Vec<Remote>,
    report: &mut Report,
) -> Result<Option<(String, Output)>, Error> {
    let media = Media { remote, report };
    let output = match &mut item.item {
        Some(Kind::FunctionCallOutput(output) | Kind::CustomToolCallOutput(output)) => {
            taken(output, at, media)?
        }
        Some(Kind::LocalShellCallOutput(output)) => {
            // Its vendor has the id of the call in either place.
            if output.call_id.is_empty() {
                output.call_id = output.id.clone();
            }
            taken(output, at, media)?
        }
        Some(Kind::ApplyPatchCallOutput(output)) => {
            let failed = output.status == "failed";
            let (id, output) = taken(output, at, media)?;
            (id, if failed { failing(output) } else { output })
        }
        Some(Kind::ShellCallOutput(output)) => shell(output, at),
        _ => return Ok(None),
    };
    Ok(Some(output))
}

fn taken(item: &mut CallOutputItem, at: &str, mut media: Media<'_>) -> Result<(String, Output), Error> {
    if item.call_id.is_empty() {
        return Err(Error::field(format!("{at}.call_id"), "is required: it says which call this answers"));
    }
    let field = format!("{at}.output");
    let (response, parts) = match item.output.take().and_then(|output| output.content) {
        None => (wrapped(""), Vec::new()),
        Some(item_content::Content::Text(text)) => (wrapped(&text), Vec::new()),
        Some(parts) => {
            let content = ItemContent { content: Some(parts) };
            let parts = part::parts(Some(content), &field, &mut media)?;
            let text: Vec<&str> = parts.iter().filter_map(text_of).collect();
            (wrapped(&text.join("\n")), parts.into_iter().filter(|part| text_of(part).is_none()).collect())
        }
    };
    Ok((item.call_id.clone(), Output { at: at.to_owned(), response, parts }))
}

fn text_of(part: &Part) -> Option<&str> {
    if let Some(Data::Text(text)) = &part.data { Some(text) } else { None }
}

/// An object as it is, everything else as the output of one.
fn wrapped(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        _ => json!({ "output": text }).to_string(),
    }
}

fn failing(output: Output) -> Output {
    let said: Value = vendor::kept(&output.response).unwrap_or_default();
    Output { response: json!({"error": said.get("output").unwrap_or(&said)}).to_string(), ..output }
}

fn shell(item: &ShellCallOutputItem, at: &str) -> (String, Output) {
    let response = format!("{{\"output\":[{}]}}", item.output.join(","));
    (item.call_id.clone(), Output { at: at.to_owned(), response, parts: Vec::new() })
}
