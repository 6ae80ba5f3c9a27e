//! Reading a user's decisions out of a message: data parts that hold the RFC's ToolCallConfirmation, in either
//! spelling, or what clients of Gemini CLI's server send. Pure; services and the agent ask it.

use crate::proto::a2a::part::Content;
use crate::proto::a2a::{Message, Part};
use crate::proto::devtool::tool_call_confirmation::ModifiedDetails;
use crate::proto::devtool::{ModifiedFileDetails, ToolCallConfirmation};
use crate::proto::wkt::{Kind, Struct, Value};

/// To the questions of one call, at the most; more are never asked.
const ANSWERS: usize = 16;

/// A part that answers a confirmation, whether or not the answer can be read.
pub fn is_confirmation(part: &Part) -> bool {
    data(part).is_some_and(|data| {
        ["tool_call_id", "toolCallId", "callId"].iter().any(|k| data.fields.contains_key(*k))
    })
}

/// A part that answers in the words of Gemini CLI's own server.
pub fn is_coder(part: &Part) -> bool {
    data(part).is_some_and(|data| data.fields.contains_key("callId"))
}

/// The decisions of a message, each with the place of its part. An error names the field and what is wrong with it.
pub fn confirmations(message: &Message) -> Result<Vec<(usize, ToolCallConfirmation)>, (String, String)> {
    let parts = message.parts.iter().enumerate().filter(|(_, part)| is_confirmation(part));
    parts
        .map(|(index, part)| {
            let field = format!("message.parts[{index}].data");
            let read = data(part).ok_or_else(|| "is not an object".to_owned()).and_then(read);
            read.map(|confirmation| (index, confirmation)).map_err(|problem| (field, problem))
        })
        .collect()
}

/// What the user says beside decisions becomes words of the message, which the model is told in its next turn.
pub fn with_feedback<'a>(
    message: &mut Message,
    decisions: impl IntoIterator<Item = &'a ToolCallConfirmation>,
) {
    let said = decisions.into_iter().filter_map(|decision| decision.feedback.as_deref());
    message.parts.extend(said.filter(|text| !text.trim().is_empty()).map(Part::text));
}

fn data(part: &Part) -> Option<&Struct> {
    match &part.content {
        Some(Content::Data(Value { kind: Some(Kind::Struct(data)) })) => Some(data),
        _ => None,
    }
}

fn read(data: &Struct) -> Result<ToolCallConfirmation, String> {
    if data.fields.contains_key("callId") {
        return coder_agent(data);
    }
    let text = serde_json::to_string(data).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("is not a ToolCallConfirmation: {error}"))
}

/// `{callId, outcome, newContent?, answers?}`; answers by their number, as in `{"0": "yes"}`.
fn coder_agent(data: &Struct) -> Result<ToolCallConfirmation, String> {
    let text = |name: &str| match data.fields.get(name).and_then(|value| value.kind.as_ref()) {
        Some(Kind::String(text)) => Some(text.clone()),
        _ => None,
    };
    let file = text("newContent").map(|new_content| ModifiedFileDetails { new_content });
    Ok(ToolCallConfirmation {
        tool_call_id: text("callId").unwrap_or_default(),
        selected_option_id: text("outcome").unwrap_or_default(),
        modified_details: file.map(ModifiedDetails::FileDetails),
        answers: answers(data)?,
        ..ToolCallConfirmation::default()
    })
}

/// By the number of their question; one that is left out is empty.
fn answers(data: &Struct) -> Result<Vec<String>, String> {
    const PROBLEM: &str = "answers: must be texts by the number of their question, as in {\"0\": \"yes\"}";
    let numbered = match data.fields.get("answers").and_then(|value| value.kind.as_ref()) {
        None | Some(Kind::Null(_)) => return Ok(Vec::new()),
        Some(Kind::Struct(numbered)) => numbered,
        Some(_) => return Err(PROBLEM.to_owned()),
    };
    let mut answers = Vec::new();
    for (number, answer) in &numbered.fields {
        match (number.parse::<usize>(), &answer.kind) {
            (Ok(number), Some(Kind::String(text))) if number < ANSWERS => {
                answers.resize(answers.len().max(number + 1), String::new());
                if let Some(place) = answers.get_mut(number) {
                    place.clone_from(text);
                }
            }
            _ => return Err(PROBLEM.to_owned()),
        }
    }
    Ok(answers)
}
