//! A conversation in turns: neighbours of one side together, calls with their answers right behind them, and what was
//! thought put back where it was signed.

use super::carrier::{self, Carried};
use super::parts;
use super::results::{self, Given, Open};
use super::settings;
use super::work::{Work, at};
use crate::domain::error::Error;
use crate::proto::anthropic::block::Block as Kind;
use crate::proto::anthropic::{
    InputMessage, RedactedThinkingBlock, ServerToolResultBlock, TextBlock, ThinkingBlock, ToolUseBlock,
    content,
};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{CodeExecutionResult, Content, ExecutableCode, FunctionCall, Part};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    System,
}

/// A block with its speaker and its place.
struct Said {
    role: Role,
    path: String,
    block: Kind,
}

/// What was said at the beginning as the system, and the conversation behind it.
pub(super) fn convert(
    messages: Vec<InputMessage>,
    work: &mut Work,
) -> Result<(Vec<Part>, Vec<Content>), Error> {
    let mut said = said(messages, work)?;
    let leading = said.iter().take_while(|said| said.role == Role::System).count();
    let mut system = Vec::new();
    for Said { path, block, .. } in said.drain(..leading) {
        system.extend(spoken(block, &path, Role::System, work)?);
    }
    let (mut told, mut rest) = (Told::default(), said.into_iter().peekable());
    while let Some(first) = rest.next() {
        let models = first.role == Role::Assistant;
        let mut turn = vec![first];
        while let Some(next) = rest.next_if(|next| (next.role == Role::Assistant) == models) {
            turn.push(next);
        }
        if models { told.model(turn, work)? } else { told.user(turn, work)? }
    }
    Ok((system, told.end(work)?))
}

/// All blocks in their order; a bare text is one.
fn said(messages: Vec<InputMessage>, work: &mut Work) -> Result<Vec<Said>, Error> {
    let mut all = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        let path = format!("messages[{index}]");
        work.unknown(&path, &message.extra);
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => return Err(Error::field(at(&path, "role"), "must be user, assistant or system")),
        };
        let path = at(&path, "content");
        match message.content.and_then(|content| content.kind) {
            None => return Err(Error::field(path, "is required")),
            Some(content::Kind::Text(text)) => {
                let block = Kind::Text(TextBlock { text, ..TextBlock::default() });
                all.push(Said { role, path, block });
            }
            Some(content::Kind::Blocks(blocks)) => {
                for (index, block) in blocks.blocks.into_iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    let block = block.block.ok_or_else(|| Error::field(&path, "is no block"))?;
                    all.push(Said { role, path, block });
                }
            }
        }
    }
    Ok(all)
}

#[derive(Default)]
struct Told {
    contents: Vec<Content>,
    /// Calls of the last turn of the model.
    calls: Vec<Open>,
}

impl Told {
    fn say(&mut self, role: &str, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.contents.push(Content { role: role.to_owned(), parts });
        }
    }

    /// Answers first and by themselves; then what the user says, and each instruction in a content of its own.
    fn user(&mut self, turn: Vec<Said>, work: &mut Work) -> Result<(), Error> {
        let (mut given, mut rest): (Vec<Given>, Vec<Said>) = (Vec::new(), Vec::new());
        for said in turn {
            match said.block {
                Kind::ToolResult(result) if said.role == Role::User => given.push((said.path, result)),
                block => rest.push(Said { block, ..said }),
            }
        }
        self.answered(given, work)?;
        let mut words = Vec::new();
        for Said { role, path, block } in rest {
            let parts = spoken(block, &path, role, work)?;
            if role == Role::System {
                self.say("user", std::mem::take(&mut words));
                self.say("user", instruction(parts));
            } else {
                words.extend(parts);
            }
        }
        self.say("user", words);
        Ok(())
    }

    fn answered(&mut self, given: Vec<Given>, work: &mut Work) -> Result<(), Error> {
        let answers = results::answer(std::mem::take(&mut self.calls), given, work)?;
        self.say("user", answers);
        Ok(())
    }

    fn model(&mut self, turn: Vec<Said>, work: &mut Work) -> Result<(), Error> {
        let (mut parts, mut signature) = (Vec::new(), String::new());
        for Said { path, block, .. } in turn {
            match block {
                Kind::Thinking(thinking) => parts.extend(thought(thinking, &path, &mut signature, work)),
                Kind::RedactedThinking(hidden) => {
                    redacted(&hidden, &path, (&mut signature, &mut parts), work);
                }
                Kind::ToolUse(call) => {
                    let mut part = called(call, &path, work, &mut self.calls)?;
                    part.thought_signature = std::mem::take(&mut signature);
                    parts.push(part);
                }
                other => parts.extend(spoken(other, &path, Role::Assistant, work)?),
            }
        }
        self.say("model", parts);
        Ok(())
    }

    fn end(mut self, work: &mut Work) -> Result<Vec<Content>, Error> {
        self.answered(Vec::new(), work)?;
        if self.contents.last().is_some_and(|content| content.role == "model") {
            settings::prefill("messages", work)?;
        }
        Ok(self.contents)
    }
}

fn instruction(mut parts: Vec<Part>) -> Vec<Part> {
    if !parts.is_empty() {
        parts.insert(0, Part::text("Instruction from the system, not from the user:"));
    }
    parts
}

fn foreign(path: &str, work: &mut Work) {
    work.report.dropped(path, "was signed elsewhere, and means nothing to the model");
}

/// The model is told what it thought only where it signed the thought itself; what it signed else is put back there.
fn thought(thinking: ThinkingBlock, path: &str, call: &mut String, work: &mut Work) -> Option<Part> {
    work.unknown(path, &thinking.extra);
    match carrier::read(&thinking.signature) {
        Carried::Call(signature) => signature.clone_into(call),
        Carried::Thought(signature) => {
            let thought_signature = signature.to_owned();
            return Some(Part { thought: true, thought_signature, ..Part::text(thinking.thinking) });
        }
        Carried::Foreign => foreign(&at(path, "signature"), work),
        Carried::Text(_) | Carried::Nothing => {}
    }
    None
}

/// For the call to come, or for the text before it.
fn redacted(
    hidden: &RedactedThinkingBlock,
    path: &str,
    (call, parts): (&mut String, &mut Vec<Part>),
    work: &mut Work,
) {
    work.unknown(path, &hidden.extra);
    match carrier::read(&hidden.data) {
        Carried::Call(signature) => signature.clone_into(call),
        Carried::Text(signature) => {
            let last =
                parts.last_mut().filter(|last| matches!(last.data, Some(Data::Text(_))) && !last.thought);
            last.into_iter().for_each(|last| signature.clone_into(&mut last.thought_signature));
        }
        Carried::Foreign => foreign(&at(path, "data"), work),
        Carried::Thought(_) | Carried::Nothing => {}
    }
}

fn called(call: ToolUseBlock, path: &str, work: &mut Work, open: &mut Vec<Open>) -> Result<Part, Error> {
    work.cache_control(path, &call.cache_control);
    work.unknown(path, &call.extra);
    for (name, value) in [("id", &call.id), ("name", &call.name)] {
        if value.is_empty() {
            return Err(Error::field(at(path, name), "is required"));
        }
    }
    let args = match call.input.as_str() {
        "" => "{}".to_owned(),
        object if object.starts_with('{') => call.input,
        other => {
            work.report.altered(at(path, "input"), "must be an object; it is told as `value` of one");
            format!("{{\"value\":{other}}}")
        }
    };
    open.push(Open { id: call.id.clone(), name: call.name.clone(), path: path.to_owned() });
    Ok(Part::of(Data::FunctionCall(FunctionCall { id: call.id, name: call.name, args })))
}

/// What either side may say, as parts.
fn spoken(block: Kind, path: &str, role: Role, work: &mut Work) -> Result<Vec<Part>, Error> {
    let misplaced = || Error::field(path, "is no block that may stand in a message of this role");
    match (block, role) {
        (Kind::Text(block), _) => text(block, path, role, work),
        (Kind::Image(image), Role::User) => Ok(vec![parts::image(image, path, work)?]),
        (Kind::Document(document), Role::User) => parts::document(document, path, work),
        (Kind::Document(document), Role::Assistant) => {
            work.refuse_if_new(path, "a document may not stand in a message of the assistant")?;
            parts::document(document, path, work)
        }
        (Kind::SearchResult(found), Role::User) => parts::search_result(found, path, work),
        (Kind::ServerToolUse(call), Role::Assistant) => Ok(ran(&call, path, work)),
        (Kind::CodeExecutionToolResult(result), Role::Assistant) => Ok(gave(&result)),
        (Kind::WebSearchToolResult(_) | Kind::WebFetchToolResult(_), Role::Assistant) => {
            work.report.dropped(path, "the model is told what it said of it");
            Ok(Vec::new())
        }
        (Kind::Other(_), Role::Assistant) => {
            work.report.dropped(path, "is of a type that is not known here");
            Ok(Vec::new())
        }
        _ => Err(misplaced()),
    }
}

fn text(block: TextBlock, path: &str, role: Role, work: &mut Work) -> Result<Vec<Part>, Error> {
    work.cache_control(path, &block.cache_control);
    work.unknown(path, &block.extra);
    if role != Role::Assistant && !block.citations.is_empty() {
        work.refuse_if_new(&at(path, "citations"), "must be empty on texts of the user")?;
        work.report.ignored(at(path, "citations"), "the model reads the text alone");
    }
    Ok(if block.text.is_empty() { Vec::new() } else { vec![Part::text(block.text)] })
}

/// What an execution of code is asked with.
#[derive(serde::Deserialize)]
struct Code {
    code: String,
}

/// Code that the model ran goes back as what it was; the other tools of its side leave no trace but its words.
fn ran(call: &ToolUseBlock, path: &str, work: &mut Work) -> Vec<Part> {
    if call.name != "code_execution" {
        work.report.dropped(path, "the model is told what it said of it");
        return Vec::new();
    }
    let code = serde_json::from_str::<Code>(&call.input).map(|input| input.code).unwrap_or_default();
    let language = "PYTHON".to_owned();
    vec![Part::of(Data::ExecutableCode(ExecutableCode { code, language, ..ExecutableCode::default() }))]
}

/// What an execution of code gave.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Output {
    stdout: String,
    stderr: String,
    return_code: i64,
    error_code: String,
}

fn gave(result: &ServerToolResultBlock) -> Vec<Part> {
    let output = serde_json::from_str::<Output>(&result.content).unwrap_or_default();
    let outcome = match (output.error_code.is_empty(), output.return_code) {
        (true, 0) => "OUTCOME_OK",
        _ => "OUTCOME_FAILED",
    };
    let output = [output.stdout, output.stderr, output.error_code].concat();
    let result =
        CodeExecutionResult { outcome: outcome.to_owned(), output, ..CodeExecutionResult::default() };
    vec![Part::of(Data::CodeExecutionResult(result))]
}
