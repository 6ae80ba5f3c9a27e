//! Messages one by one: who says what, which calls are made, and what answers them. Their order is somebody else's.

use serde_json::json;
use serde_json::value::RawValue;

use super::foreign::{self, Piece};
use super::turns::{Answered, Said, Told};
use super::{Notes, members, part};
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{FunctionCall, Part};
use crate::proto::openai::content::Kind;
use crate::proto::openai::tool_call::Call;
use crate::proto::openai::{self, Content, ContentPart, Message, ToolCall};

/// `first` is an instruction that stands beside the messages, where one does.
pub fn said(first: Option<Content>, messages: Vec<Message>, notes: &mut Notes) -> Result<Vec<Told>, Error> {
    let mut all = Vec::new();
    system(first, "system", &mut all, notes)?;
    for (index, message) in messages.into_iter().enumerate() {
        let at = format!("messages[{index}]");
        unknown(&message, &at, &mut notes.report);
        match message.role.as_str() {
            "system" | "developer" => system(message.content, &format!("{at}.content"), &mut all, notes)?,
            "user" => user(message, &at, &mut all, notes)?,
            "assistant" | "model" => assistant(message, at, &mut all, notes)?,
            "tool" | "function" => all.push(answer(message, at, notes)?),
            _ => {
                return Err(Error::field(
                    format!("{at}.role"),
                    "must be system, developer, user, assistant, tool or function",
                ));
            }
        }
    }
    Ok(all)
}

/// Answers are sent back as they came, with all that was in them.
fn unknown(message: &Message, at: &str, report: &mut Report) {
    const OURS: [&str; 2] = ["annotations", "images"];
    for (name, value) in members(&message.extra) {
        if !OURS.contains(&name.as_str()) && value.get() != "null" {
            report.ignored(format!("{at}.{name}"), "is not known here");
        }
    }
    if !message.reasoning_content.is_empty() || !message.reasoning.is_empty() {
        report.ignored(format!("{at}.reasoning_content"), "the model is not told its thoughts again");
    }
}

fn system(content: Option<Content>, at: &str, all: &mut Vec<Told>, notes: &mut Notes) -> Result<(), Error> {
    for (path, piece) in pieces(content, at, notes)? {
        match piece {
            Piece::Part(Part { data: Some(Data::Text(text)), .. }) => {
                all.push(Told { at: path, said: Said::System(text) });
            }
            Piece::Part(_) | Piece::Answer(_) => {
                return Err(Error::field(path, "an instruction can only hold text"));
            }
        }
    }
    Ok(())
}

fn user(message: Message, at: &str, all: &mut Vec<Told>, notes: &mut Notes) -> Result<(), Error> {
    let mut parts = Vec::new();
    for (path, piece) in pieces(message.content, &format!("{at}.content"), notes)? {
        match piece {
            Piece::Part(part) => parts.push(part),
            Piece::Answer(answer) => all.push(Told { at: path, said: Said::Answer(answer) }),
        }
    }
    if parts.is_empty() {
        return Ok(());
    }
    if !message.name.is_empty() {
        notes.report.altered(format!("{at}.name"), "models know no names; it is said before the text");
        parts.insert(0, Part::text(format!("{} says:", message.name)));
    }
    all.push(Told { at: at.to_owned(), said: Said::User(parts) });
    Ok(())
}

fn assistant(message: Message, at: String, all: &mut Vec<Told>, notes: &mut Notes) -> Result<(), Error> {
    let mut parts = Vec::new();
    for (path, piece) in pieces(message.content, &format!("{at}.content"), notes)? {
        match piece {
            Piece::Part(part) => parts.push(part),
            Piece::Answer(_) => return Err(Error::field(path, "only a user or a tool answers calls")),
        }
    }
    if !message.refusal.is_empty() {
        parts.push(Part::text(message.refusal));
    }
    if !message.audio.is_empty() {
        notes
            .report
            .dropped(format!("{at}.audio"), "what was spoken is not kept; send its transcript as text");
    }
    sign(&mut parts, part::signature(&message.extra_content));
    for (index, call) in message.tool_calls.into_iter().enumerate() {
        parts.push(called(call, &format!("{at}.tool_calls[{index}]"), &mut notes.report)?);
    }
    if let Some(openai::FunctionCall { name, arguments }) = message.function_call {
        let args = args(&arguments, &format!("{at}.function_call.arguments"), &mut notes.report);
        parts.push(Part::of(Data::FunctionCall(FunctionCall { id: String::new(), name, args })));
    }
    if !parts.is_empty() {
        all.push(Told { at, said: Said::Model(parts) });
    }
    Ok(())
}

/// It belongs to the last text; a part without one can carry it too.
fn sign(parts: &mut Vec<Part>, signature: String) {
    if signature.is_empty() {
        return;
    }
    match parts.iter_mut().rev().find(|part| matches!(part.data, Some(Data::Text(_)))) {
        Some(text) => text.thought_signature = signature,
        None => parts.push(Part { thought_signature: signature, ..Part::text("") }),
    }
}

fn called(call: ToolCall, at: &str, report: &mut Report) -> Result<Part, Error> {
    let (name, args) = match call.call {
        Some(Call::Function(call)) => {
            (call.name, args(&call.arguments, &format!("{at}.function.arguments"), report))
        }
        Some(Call::Custom(call)) => (call.name, json!({"input": call.input}).to_string()),
        None => return Err(Error::field(at, "is neither a call of a function nor of a custom tool")),
    };
    if name.is_empty() {
        return Err(Error::field(at, "has no name; say which tool was called"));
    }
    let part = Part::of(Data::FunctionCall(FunctionCall { id: call.id, name, args }));
    Ok(Part { thought_signature: part::signature(&call.extra_content), ..part })
}

/// An object in any case: a call is never dropped.
fn args(arguments: &str, at: &str, report: &mut Report) -> String {
    let text = arguments.trim();
    match serde_json::from_str::<&RawValue>(text) {
        _ if text.is_empty() => "{}".to_owned(),
        Ok(_) if text == "null" => "{}".to_owned(),
        Ok(_) if text.starts_with('{') => text.to_owned(),
        Ok(_) => {
            report.altered(at, "is no object; it stands in the member `value` of one");
            format!("{{\"value\":{text}}}")
        }
        Err(_) => {
            report.altered(at, "is no JSON; its text stands in the member `_raw` of an object");
            json!({"_raw": arguments}).to_string()
        }
    }
}

fn answer(message: Message, at: String, notes: &mut Notes) -> Result<Told, Error> {
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for (path, piece) in pieces(message.content, &format!("{at}.content"), notes)? {
        match piece {
            Piece::Part(Part { data: Some(Data::Text(text)), .. }) => texts.push(text),
            Piece::Part(part) => parts.push(part),
            Piece::Answer(_) => return Err(Error::field(path, "an answer holds no other answer")),
        }
    }
    let (id, name) = (message.tool_call_id, message.name);
    let said = Said::Answer(Answered { id, name, response: response(&texts.join("\n")), parts });
    Ok(Told { at, said })
}

/// An object as it is, everything else as `output`.
pub fn response(text: &str) -> String {
    let object = text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok();
    if object { text.trim().to_owned() } else { json!({"output": text}).to_string() }
}

/// All that a message holds, each with its place. Empty texts say nothing.
fn pieces(content: Option<Content>, at: &str, notes: &mut Notes) -> Result<Vec<(String, Piece)>, Error> {
    let parts = match content.and_then(|content| content.kind) {
        None => return Ok(Vec::new()),
        Some(Kind::Text(text)) if text.is_empty() => return Ok(Vec::new()),
        Some(Kind::Text(text)) => {
            return Ok(vec![(at.to_owned(), Piece::Part(Part::text(text)))]);
        }
        Some(Kind::Parts(parts)) => parts.parts,
    };
    let mut pieces = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let at = format!("{at}[{index}]");
        let piece = piece(part, &at, notes)?;
        pieces.extend(piece.map(|piece| (at, piece)));
    }
    Ok(pieces)
}

fn piece(part: ContentPart, at: &str, notes: &mut Notes) -> Result<Option<Piece>, Error> {
    match part.part {
        Some(known) => {
            for (name, _) in members(&part.extra) {
                notes.report.ignored(format!("{at}.{name}"), "is not known here");
            }
            part::convert(known, at, notes).map(|part| part.map(Piece::Part))
        }
        None => foreign::piece(&part.extra, at, notes),
    }
}
