//! Turns as messages. Who follows whom is stricter there: every call of a message is answered right behind it, by its id.

use std::collections::HashSet;

use super::part::{code_text, content, part, result_text};
use super::{Dropped, Server};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, FunctionCall, FunctionResponse, Part};
use crate::proto::openai::content_part::Part as Wire;
use crate::proto::openai::tool_call::Call;
use crate::proto::openai::{self, ContentPart, Message, ToolCall};
use crate::proto::vendor::Members;

/// Longer ones are refused by OpenAI.
const LONGEST_ID: usize = 40;
const UNANSWERED: &str = r#"{"error":"the call was not answered"}"#;

pub fn messages(
    system: Option<Content>,
    contents: Vec<Content>,
    server: Server,
    dropped: &mut Dropped,
) -> Vec<Message> {
    let taken = contents.iter().flat_map(|content| &content.parts).filter_map(call_id).collect();
    let mut turns = Turns { messages: Vec::new(), open: Vec::new(), calls: 0, taken, server, dropped };
    if let Some(system) = system {
        turns.plain("system", system, "systemInstruction");
    }
    // Neighbours of one side are one turn.
    let mut contents = contents.into_iter().enumerate().peekable();
    while let Some(first) = contents.next() {
        let model = is_model(&first.1);
        let mut turn = vec![first];
        while let Some(next) = contents.next_if(|(_, content)| is_model(content) == model) {
            turn.push(next);
        }
        if model { turns.model(turn) } else { turns.user(turn) }
    }
    turns.settle();
    turns.messages
}

fn is_model(content: &Content) -> bool {
    matches!(content.role.as_str(), "model" | "assistant")
}

fn call_id(part: &Part) -> Option<String> {
    match &part.data {
        Some(Data::FunctionCall(call)) if !call.id.is_empty() => Some(call.id.clone()),
        _ => None,
    }
}

type Turn = Vec<(usize, Content)>;

struct Turns<'a> {
    messages: Vec<Message>,
    /// The calls of the last message of the model, in their order.
    open: Vec<Open>,
    /// How many calls there were.
    calls: usize,
    /// Ids that the hub gave.
    taken: HashSet<String>,
    server: Server,
    dropped: &'a mut Dropped,
}

/// A call that waits for its answer.
struct Open {
    /// As the hub has it, perhaps empty.
    hub: String,
    /// As it is sent.
    id: String,
    name: String,
    answer: Option<String>,
}

impl Turns<'_> {
    fn say(&mut self, role: &str, content: Option<openai::Content>) {
        if content.is_some() {
            self.messages.push(Message { role: role.to_owned(), content, ..Message::default() });
        }
    }

    fn plain(&mut self, role: &str, turn: Content, path: &str) {
        let mut texts = Vec::new();
        for (at, given) in turn.parts.into_iter().enumerate() {
            let path = format!("{path}.parts[{at}]");
            match part(given, &path, self.dropped) {
                Some(ContentPart { part: Some(Wire::Text(text)), .. }) => texts.push(text),
                Some(_) => self.dropped.note(path),
                None => {}
            }
        }
        self.say(role, (!texts.is_empty()).then(|| openai::Content::text(texts.join("\n"))));
    }

    fn model(&mut self, turn: Turn) {
        self.settle();
        let mut said = Said::default();
        for (index, content) in turn {
            said.new_line = true;
            for (at, part) in content.parts.into_iter().enumerate() {
                self.model_part(part, &format!("contents[{index}].parts[{at}]"), &mut said);
            }
        }
        if said.text.is_empty() && said.calls.is_empty() {
            return;
        }
        self.messages.push(Message {
            role: "assistant".to_owned(),
            content: (!said.text.is_empty()).then(|| openai::Content::text(said.text)),
            tool_calls: said.calls,
            extra_content: said.signature,
            ..Message::default()
        });
    }

    fn model_part(&mut self, part: Part, path: &str, said: &mut Said) {
        self.dropped.members(path, &part.extra);
        let signature = self.signature(&part, path);
        match part.data {
            None => {}
            Some(_) if part.thought => {}
            Some(Data::Text(text)) => {
                said.say(&text);
                said.signature = signature.unwrap_or(std::mem::take(&mut said.signature));
            }
            Some(Data::FunctionCall(call)) => said.calls.push(self.call(call, signature)),
            Some(Data::ExecutableCode(code)) => said.block(&code_text(&code)),
            Some(Data::CodeExecutionResult(result)) => said.block(&result_text(&result)),
            Some(Data::InlineData(_)) => self.dropped.note(format!("{path}.inlineData")),
            Some(Data::FileData(_)) => self.dropped.note(format!("{path}.fileData")),
            Some(Data::FunctionResponse(_)) => self.dropped.note(format!("{path}.functionResponse")),
        }
    }

    /// Where Google's own server of this dialect looks for it. OpenAI refuses what it does not know.
    fn signature(&mut self, part: &Part, path: &str) -> Option<String> {
        if part.thought_signature.is_empty() {
            return None;
        }
        if part.thought || self.server == Server::OpenAi {
            self.dropped.note(format!("{path}.thoughtSignature"));
            return None;
        }
        Some(serde_json::json!({"google": {"thought_signature": part.thought_signature}}).to_string())
    }

    fn call(&mut self, call: FunctionCall, signature: Option<String>) -> ToolCall {
        let id = self.id(&call.id);
        self.open.push(Open { hub: call.id, id: id.clone(), name: call.name.clone(), answer: None });
        let arguments = if call.args.is_empty() { "{}".to_owned() } else { call.args };
        ToolCall {
            id,
            call: Some(Call::Function(openai::FunctionCall { name: call.name, arguments })),
            extra_content: signature.unwrap_or_default(),
            ..ToolCall::default()
        }
    }

    /// The hub's id, or one that is the same whenever the conversation is told again.
    fn id(&mut self, hub: &str) -> String {
        let ordinal = self.calls;
        self.calls += 1;
        let is_open = self.open.iter().any(|open| open.id == hub);
        if !hub.is_empty() && hub.len() <= LONGEST_ID && !is_open {
            return hub.to_owned();
        }
        let mut id = format!("call_{ordinal}");
        while self.taken.contains(&id) {
            id.push('_');
        }
        id
    }

    fn user(&mut self, turn: Turn) {
        let mut later = Vec::new();
        for (index, content) in turn {
            let mut parts = Vec::new();
            for (at, given) in content.parts.into_iter().enumerate() {
                let path = format!("contents[{index}].parts[{at}]");
                match given.data {
                    Some(Data::FunctionResponse(response)) => {
                        self.dropped.members(&path, &given.extra);
                        parts.extend(self.response(response, &path));
                    }
                    _ => parts.extend(part(given, &path, self.dropped)),
                }
            }
            later.push(parts);
        }
        // Answers come first: nothing may stand between a call and its answer.
        self.settle();
        later.into_iter().for_each(|parts| self.say("user", content(parts)));
    }

    /// Takes an answer, and returns what a `tool` message cannot hold.
    fn response(&mut self, response: FunctionResponse, path: &str) -> Vec<ContentPart> {
        let text = answer_text(&response.response);
        let mut rest = Vec::new();
        match self.find(&response) {
            Some(open) => open.answer = Some(text),
            None => {
                // It answers nothing that was called, and is told as what it is.
                self.dropped.note(format!("{path}.functionResponse.id"));
                rest.push(text_part(format!("The tool {} answered: {text}", response.name)));
            }
        }
        let media = response.parts.into_iter().enumerate().filter_map(|(at, given)| {
            part(given, &format!("{path}.functionResponse.parts[{at}]"), self.dropped)
        });
        let media: Vec<_> = media.collect();
        if !media.is_empty() {
            rest.push(text_part(format!("With the answer of the tool {}:", response.name)));
        }
        rest.into_iter().chain(media).collect()
    }

    /// By id, or else the first call of that name that has no answer yet.
    fn find(&mut self, response: &FunctionResponse) -> Option<&mut Open> {
        let waits = |open: &Open| open.answer.is_none();
        let by_id = |open: &Open| !response.id.is_empty() && open.hub == response.id;
        let by_name = |open: &Open| response.name.is_empty() || open.name == response.name;
        let at = self.open.iter().position(|open| waits(open) && by_id(open));
        let at = at.or_else(|| self.open.iter().position(|open| waits(open) && by_name(open)))?;
        self.open.get_mut(at)
    }

    /// Answers all calls, those too of which nobody has told what became.
    fn settle(&mut self) {
        for open in std::mem::take(&mut self.open) {
            let answer = open.answer.unwrap_or_else(|| UNANSWERED.to_owned());
            self.messages.push(Message {
                role: "tool".to_owned(),
                content: Some(openai::Content::text(answer)),
                tool_call_id: open.id,
                ..Message::default()
            });
        }
    }
}

/// What the model said in one turn.
#[derive(Default)]
struct Said {
    text: String,
    calls: Vec<ToolCall>,
    /// Of the last text that had one.
    signature: String,
    /// What comes next begins a line.
    new_line: bool,
}

impl Said {
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.new_line) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// On lines of its own.
    fn block(&mut self, text: &str) {
        self.new_line = true;
        self.say(text);
        self.new_line = true;
    }
}

fn text_part(text: String) -> ContentPart {
    ContentPart { part: Some(Wire::Text(text)), ..ContentPart::default() }
}

/// `output` alone is told without its wrapping.
fn answer_text(response: &str) -> String {
    let members = serde_json::from_str(response).map(|Members(members)| members).unwrap_or_default();
    match members.as_slice() {
        [(name, output)] if name == "output" => {
            serde_json::from_str(output.get()).unwrap_or_else(|_| output.get().to_owned())
        }
        _ => response.to_owned(),
    }
}
