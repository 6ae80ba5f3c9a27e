//! Items as turns of a conversation: what the user says, what the model says and calls, and what became of the calls, each
//! in the turn where the model must find it.

mod arguments;
mod outputs;
mod part;

use std::collections::{HashMap, VecDeque};

use self::outputs::Output;
use self::part::Media;
use super::signature::Seal;
use super::tools::{Form, Tools};
use crate::domain::error::Error;
use crate::facade::{Remote, Report};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, Content, FunctionCall, FunctionResponse, Part};
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::{ImageGenerationCallItem, Item, MessageItem, ReasoningItem};
use crate::proto::vendor;

const USER: &str = "user";
const MODEL: &str = "model";
/// For a conversation that the model would refuse without a word of the user's.
const GO_ON: &str = "Continue.";

/// All that was said.
pub(super) struct Said {
    pub(super) system: Option<Content>,
    pub(super) contents: Vec<Content>,
    pub(super) remote: Vec<Remote>,
}

/// A conversation in the making. A turn of the model goes on until somebody else is heard.
pub(super) struct Turns {
    system: Vec<Part>,
    contents: Vec<Content>,
    /// The turn of the model that goes on.
    model: Vec<Part>,
    /// What became of calls, by their ids; the same id may come again.
    outputs: HashMap<String, VecDeque<Output>>,
    /// Signatures that wait for their call, by its id, or for the next text.
    calls_signed: HashMap<String, String>,
    texts_signed: VecDeque<String>,
    remote: Vec<Remote>,
    /// The last turn was an instruction, which stands alone.
    told: bool,
}

impl Turns {
    pub(super) fn new(instructions: String) -> Self {
        let system = if instructions.is_empty() { Vec::new() } else { vec![Part::text(instructions)] };
        Self {
            system,
            contents: Vec::new(),
            model: Vec::new(),
            outputs: HashMap::new(),
            calls_signed: HashMap::new(),
            texts_signed: VecDeque::new(),
            remote: Vec::new(),
            told: false,
        }
    }

    /// Two passes: outputs are looked up from the turn of their calls, wherever they stand.
    pub(super) fn read(
        &mut self,
        mut items: Vec<Item>,
        at: &str,
        tools: &Tools,
        report: &mut Report,
    ) -> Result<(), Error> {
        for (index, item) in items.iter_mut().enumerate() {
            let at = format!("{at}[{index}]");
            if let Some((id, output)) = outputs::take(item, &at, &mut self.remote, report)? {
                self.outputs.entry(id).or_default().push_back(output);
            }
        }
        for (index, item) in items.into_iter().enumerate() {
            self.item(item, &format!("{at}[{index}]"), tools, report)?;
        }
        Ok(())
    }

    fn item(&mut self, item: Item, at: &str, tools: &Tools, report: &mut Report) -> Result<(), Error> {
        match item.item {
            Some(Kind::Message(message)) => return self.message(message, at, report),
            Some(Kind::Reasoning(reasoning)) => self.reasoning(&reasoning, at, report),
            Some(Kind::FunctionCall(call)) => {
                let name = tools.hub(Form::Function, &call.namespace, &call.name);
                let args = arguments::object(&call.arguments, &format!("{at}.arguments"), report);
                self.call(call.call_id, name, args);
            }
            Some(Kind::CustomToolCall(call)) => {
                let name = tools.hub(Form::Custom, &call.namespace, &call.name);
                self.call(call.call_id, name, serde_json::json!({"input": call.input}).to_string());
            }
            Some(Kind::LocalShellCall(call)) => {
                let args = arguments::without_type(&call.action);
                self.call(call.call_id, tools.hub(Form::LocalShell, "", "local_shell"), args);
            }
            Some(Kind::ShellCall(call)) => {
                let args = arguments::object(&call.action, &format!("{at}.action"), report);
                self.call(call.call_id, tools.hub(Form::Shell, "", "shell"), args);
            }
            Some(Kind::ApplyPatchCall(call)) => {
                let args = arguments::object(&call.operation, &format!("{at}.operation"), report);
                self.call(call.call_id, tools.hub(Form::ApplyPatch, "", "apply_patch"), args);
            }
            Some(
                Kind::FunctionCallOutput(_)
                | Kind::CustomToolCallOutput(_)
                | Kind::LocalShellCallOutput(_)
                | Kind::ShellCallOutput(_)
                | Kind::ApplyPatchCallOutput(_),
            ) => self.end_turn(report),
            Some(Kind::ImageGenerationCall(made)) => self.picture(made),
            Some(Kind::WebSearchCall(_) | Kind::CodeInterpreterCall(_)) => {
                report.ignored(at, "what the model did on its own side stands in what it said");
            }
            // They were taken before.
            Some(Kind::AdditionalTools(_)) => {}
            Some(Kind::ItemReference(reference)) => return Err(unresolved(&reference.id, at)),
            None => report.dropped(at, &format!("items of type {} mean nothing here", kind(&item.extra))),
        }
        Ok(())
    }

    fn message(&mut self, message: MessageItem, at: &str, report: &mut Report) -> Result<(), Error> {
        let mut media = Media { remote: &mut self.remote, report };
        let parts = part::parts(message.content, &format!("{at}.content"), &mut media)?;
        match message.role.as_str() {
            "assistant" => self.said(parts),
            "user" | "" => self.heard(parts, report),
            "system" | "developer" if self.contents.is_empty() && self.model.is_empty() => {
                self.system.extend(parts);
            }
            "system" | "developer" => {
                self.end_turn(report);
                let told = parts.into_iter().map(instruction).collect();
                self.contents.push(Content { role: USER.to_owned(), parts: told });
                self.told = true;
            }
            other => {
                let known = "not `user`, `assistant`, `system` or `developer`";
                return Err(Error::field(format!("{at}.role"), format!("`{other}` is {known}")));
            }
        }
        Ok(())
    }

    fn said(&mut self, parts: Vec<Part>) {
        for mut part in parts {
            if let Some(signature) = self.texts_signed.pop_front() {
                part.thought_signature = signature;
            }
            self.model.push(part);
        }
    }

    fn heard(&mut self, parts: Vec<Part>, report: &mut Report) {
        self.end_turn(report);
        if parts.is_empty() {
            return;
        }
        let alone = std::mem::take(&mut self.told);
        match self.contents.last_mut().filter(|_| !alone) {
            // What the user says in several pieces is one turn; answers of tools stand alone.
            Some(last) if last.role == USER && !last.parts.first().is_some_and(is_response) => {
                last.parts.extend(parts)
            }
            _ => self.contents.push(Content { role: USER.to_owned(), parts }),
        }
    }

    /// A thought is no turn of its own: only its signature goes back, with what it belongs to.
    fn reasoning(&mut self, reasoning: &ReasoningItem, at: &str, report: &mut Report) {
        let Some(sealed) = reasoning.encrypted_content.as_deref().filter(|text| !text.is_empty()) else {
            return;
        };
        match Seal::read(sealed) {
            None => report.dropped(format!("{at}.encrypted_content"), "it is another model's"),
            Some(Seal::Text { signature }) if self.model.last().is_some_and(is_unsigned_text) => {
                self.model.last_mut().into_iter().for_each(|part| part.thought_signature = signature.clone());
            }
            Some(Seal::Text { signature }) => self.texts_signed.push_back(signature),
            Some(Seal::Call { id, signature }) => drop(self.calls_signed.insert(id, signature)),
        }
    }

    fn call(&mut self, id: String, name: String, args: String) {
        let thought_signature = self.calls_signed.remove(&id).unwrap_or_default();
        let call = FunctionCall { id, name, args };
        self.model.push(Part { thought_signature, ..Part::of(Data::FunctionCall(call)) });
    }

    fn picture(&mut self, made: ImageGenerationCallItem) {
        if !made.result.is_empty() {
            let blob = Blob { mime_type: "image/png".to_owned(), data: made.result };
            self.model.push(Part::of(Data::InlineData(blob)));
        }
    }

    /// The turn of the model, and behind it what became of its calls, in their order.
    fn end_turn(&mut self, report: &mut Report) {
        self.calls_signed.clear();
        self.texts_signed.clear();
        let parts = std::mem::take(&mut self.model);
        if parts.is_empty() {
            return;
        }
        if self.contents.is_empty() {
            report.guessed("input", "the model cannot speak first: a word of the user's was put before it");
            self.contents.push(Content { role: USER.to_owned(), parts: vec![Part::text(GO_ON)] });
        }
        let answers: Vec<Part> = parts.iter().filter_map(|part| self.answer(part, report)).collect();
        self.contents.push(Content { role: MODEL.to_owned(), parts });
        if !answers.is_empty() {
            self.contents.push(Content { role: USER.to_owned(), parts: answers });
        }
    }

    fn answer(&mut self, part: &Part, report: &mut Report) -> Option<Part> {
        let Some(Data::FunctionCall(FunctionCall { id, name, .. })) = &part.data else { return None };
        let output = self.outputs.get_mut(id).and_then(VecDeque::pop_front).unwrap_or_else(|| {
            report.guessed("input", &format!("the call {id} has no output; the model is told so"));
            Output::missing()
        });
        let Output { response, parts, .. } = output;
        let response = FunctionResponse { id: id.clone(), name: name.clone(), response, parts };
        Some(Part::of(Data::FunctionResponse(response)))
    }

    pub(super) fn finish(mut self, report: &mut Report) -> Said {
        self.end_turn(report);
        let mut orphans: Vec<Output> = self.outputs.into_values().flatten().collect();
        orphans.sort_by(|a, b| a.at.cmp(&b.at));
        orphans.iter().for_each(|orphan| report.dropped(&orphan.at, "there is no call that it answers"));
        if self.contents.last().is_none_or(|last| last.role == MODEL) {
            report.guessed("input", "the user has the last word: one was put behind");
            self.contents.push(Content { role: USER.to_owned(), parts: vec![Part::text(GO_ON)] });
        }
        let system =
            (!self.system.is_empty()).then_some(Content { parts: self.system, ..Content::default() });
        Said { system, contents: self.contents, remote: self.remote }
    }
}

fn is_response(part: &Part) -> bool {
    matches!(part.data, Some(Data::FunctionResponse(_)))
}

fn is_unsigned_text(part: &Part) -> bool {
    part.thought_signature.is_empty() && matches!(part.data, Some(Data::Text(_)))
}

/// In the middle of a conversation there are only users.
fn instruction(part: Part) -> Part {
    match part.data {
        Some(Data::Text(text)) => Part::text(format!("[Instruction of the system]\n{text}")),
        data => Part { data, ..part },
    }
}

fn unresolved(id: &str, at: &str) -> Error {
    Error::field(format!("{at}.id"), format!("there is no item `{id}`; send the item itself"))
}

/// The type of an item that is not known.
fn kind(extra: &str) -> String {
    let item: serde_json::Value = vendor::kept(extra).unwrap_or_default();
    item["type"].as_str().unwrap_or("unknown").to_owned()
}
