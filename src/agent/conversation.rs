//! What the model has been told and has said, folded from the journal. Pure: whoever folds the same events asks the
//! model the same thing, in this process or the next.
//!
//! The rules that models insist on hold by construction: every call has its answer, all answers of one turn come
//! together and in the order of the calls, and the user's words never come between a call and its answer.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::confirmation::is_confirmation;
use crate::proto::a2a::part::Content as Said;
use crate::proto::a2a::{Message, Part as MessagePart, Role};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, Content, FileData, FunctionCall, FunctionResponse, Part};
use crate::proto::task::task_event::Event;
use crate::proto::task::{TaskEvent, TurnStarted};

pub const USER: &str = "user";
pub const MODEL: &str = "model";

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    contents: Vec<Content>,
    /// Said, and not yet part of a turn.
    waiting: Vec<Message>,
    open: Option<Open>,
    task_id: String,
    /// How many calls the task has made.
    calls: usize,
    /// A slash command is at work: the model hears nothing of what it calls.
    aside: bool,
}

/// The last answer of the model has calls that are not all answered.
#[derive(Debug, Clone, PartialEq)]
struct Open {
    calls: Vec<Named>,
    answers: BTreeMap<String, Vec<Part>>,
}

/// A call of the model, and the id that the task knows it by.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    pub tool_call_id: String,
    pub call: FunctionCall,
}

impl Conversation {
    /// Goes on from what the tasks before have left.
    pub fn after(contents: Vec<Content>) -> Self {
        Self { contents, ..Self::default() }
    }

    pub fn fold(&mut self, event: &TaskEvent) {
        match &event.event {
            Some(Event::Created(created)) => self.task_id.clone_from(&created.task_id),
            Some(Event::Message(message)) if message.role() == Role::User => {
                self.waiting.push(Message::clone(message))
            }
            Some(Event::Decision(decided)) => self.spend(&decided.message_id),
            Some(Event::Turn(turn)) => self.begin(turn),
            Some(Event::Answer(answer)) => self.answer(answer),
            Some(Event::ToolAnswer(answered)) => self.answered(&answered.tool_call_id, &answered.parts),
            Some(Event::Told(told)) => self.contents.push(told.clone()),
            Some(Event::Summary(summary)) => self.contents.clone_from(&summary.contents),
            _ => {}
        }
    }

    /// A message that decided about a call says nothing more to the model, unless it has words beside the decision.
    fn spend(&mut self, message_id: &str) {
        self.waiting.retain(|message| message.message_id != message_id || says_more(message));
    }

    fn begin(&mut self, turn: &TurnStarted) {
        let TurnStarted { message_ids, command, .. } = turn;
        let (now, later) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|message: &Message| message_ids.contains(&message.message_id));
        self.waiting = later;
        self.close();
        let parts: Vec<Part> = match command {
            // What was typed is for the agent; the model hears what it stands for.
            Some(command) => command.prompt.clone(),
            None => Vec::from_iter::<Vec<Message>>(now).iter().flat_map(parts).collect(),
        };
        self.aside = command.is_some() && parts.is_empty();
        if !parts.is_empty() {
            self.contents.push(Content { role: USER.to_owned(), parts });
        }
    }

    fn answer(&mut self, answer: &Content) {
        self.close();
        let calls = self.name(answer);
        if !self.aside {
            self.contents.push(answer.clone());
        }
        self.open = (!calls.is_empty()).then(|| Open { calls, answers: BTreeMap::new() });
    }

    /// The ids that the calls of an answer get. Not the model's own, which come again in other answers and tasks.
    fn name(&mut self, answer: &Content) -> Vec<Named> {
        let before = self.calls;
        let named = |(call, number): (&FunctionCall, usize)| Named {
            tool_call_id: format!("{}-call-{number}", self.task_id),
            call: call.clone(),
        };
        let named: Vec<Named> = function_calls(answer).zip(before + 1..).map(named).collect();
        self.calls += named.len();
        named
    }

    fn answered(&mut self, tool_call_id: &str, parts: &[Part]) {
        let Some(open) = &mut self.open else { return };
        open.answers.insert(tool_call_id.to_owned(), parts.to_vec());
        if open.calls.iter().all(|named| open.answers.contains_key(&named.tool_call_id)) {
            self.close();
        }
    }

    /// All answers in one turn, in the order of the calls. A call without one is said to be lost: a conversation with a
    /// hole would be refused for ever.
    fn close(&mut self) {
        let Some(Open { calls, mut answers }) = self.open.take() else { return };
        if self.aside {
            return;
        }
        let answer =
            |named: &Named| answers.remove(&named.tool_call_id).unwrap_or_else(|| vec![lost(&named.call)]);
        let parts = calls.iter().flat_map(answer).collect();
        self.contents.push(Content { role: USER.to_owned(), parts });
    }

    /// The calls of the last answer, as long as some of them are open.
    pub fn open_calls(&self) -> &[Named] {
        self.open.as_ref().map(|open| open.calls.as_slice()).unwrap_or_default()
    }

    /// Whether a turn is in progress: the model has something to answer.
    pub fn awaits_model(&self) -> bool {
        self.open.is_none() && self.contents.last().is_some_and(|last| last.role == USER)
    }

    /// Said, and not yet part of a turn.
    pub fn waiting(&self) -> &[Message] {
        &self.waiting
    }

    /// What a request may be made of, and what the next task of the context goes on from: begins with the user, alternates, and leaves no call unanswered.
    pub fn contents(&self) -> Vec<Content> {
        let mut whole = self.clone();
        whole.close();
        let mut contents: Vec<Content> = Vec::with_capacity(whole.contents.len());
        for content in whole.contents.into_iter().filter(|content| !content.parts.is_empty()) {
            match contents.last_mut() {
                None if content.role != USER => {}
                Some(last) if last.role == content.role && !is_answer(last) && !is_answer(&content) => {
                    last.parts.extend(content.parts);
                }
                _ => contents.push(content),
            }
        }
        contents
    }
}

pub fn function_calls(content: &Content) -> impl Iterator<Item = &FunctionCall> {
    content.parts.iter().filter_map(|part| match &part.data {
        Some(Data::FunctionCall(call)) => Some(call),
        _ => None,
    })
}

pub fn text(role: &str, text: impl Into<String>) -> Content {
    let part = Part { data: Some(Data::Text(text.into())), ..Part::default() };
    Content { role: role.to_owned(), parts: vec![part] }
}

/// Whether a message has words beside a decision.
pub fn says_more(message: &Message) -> bool {
    message.parts.iter().any(is_confirmation) && !message.parts.iter().all(is_confirmation)
}

fn is_answer(content: &Content) -> bool {
    content.parts.iter().any(|part| matches!(part.data, Some(Data::FunctionResponse(_))))
}

fn lost(call: &FunctionCall) -> Part {
    let answer = FunctionResponse {
        id: call.id.clone(),
        name: call.name.clone(),
        response: r#"{"error":"[Operation Cancelled] Reason: the turn ended before this call was made."}"#
            .to_owned(),
        parts: Vec::new(),
    };
    Part { data: Some(Data::FunctionResponse(answer)), ..Part::default() }
}

/// A message of the user in the model's words. What answers a confirmation is for the agent, not for the model.
fn parts(message: &Message) -> Vec<Part> {
    message.parts.iter().filter_map(part).map(|data| Part { data: Some(data), ..Part::default() }).collect()
}

fn part(part: &MessagePart) -> Option<Data> {
    let mime_type = part.media_type.clone();
    match part.content.as_ref()? {
        Said::Text(text) => Some(Data::Text(text.clone())),
        Said::Raw(bytes) => Some(Data::InlineData(Blob { mime_type, data: STANDARD.encode(bytes) })),
        Said::Url(url) => Some(Data::FileData(FileData { mime_type, file_uri: url.clone() })),
        Said::Data(_) if is_confirmation(part) => None,
        Said::Data(value) => serde_json::to_string(value).ok().map(Data::Text),
    }
}

#[cfg(test)]
mod tests;
