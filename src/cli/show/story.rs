//! The story of a task: each update becomes what is printed for it. Keeps what a reader of the screen knows already, so
//! that nothing is said twice: the whole message behind its pieces, or output that came while the tool ran.

use std::collections::BTreeMap;

use super::call::{self, Before};
use super::markdown::Markdown;
use super::paint::{Ink, Paint};
use super::request;
use super::safe::{safe, safe_line};
use crate::proto::a2a::{Artifact, Message, Role, TaskState, TaskStatus};
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{
    AgentThought, ErrorDetails, LiveOutput, TaskUpdate, ToolCall, ToolCallDecided, ToolCallStatus,
};

/// Whether something is the answer, or told beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    Answer,
    Aside,
}

/// Something to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub voice: Voice,
    pub text: String,
}

/// What is told of a task, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    pub paint: Paint,
    /// Whoever reads did not say it, so that it must be told what was said.
    pub bystander: bool,
}

#[derive(Debug)]
pub struct Story {
    reader: Reader,
    markdown: Markdown,
    /// What was said since the last whole message.
    heard: String,
    calls: BTreeMap<String, Seen>,
    /// Whose output was printed last.
    printing: String,
    stands: Stands,
    /// Calls that this reader answered.
    own: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    name: String,
    before: Before,
    /// In bytes of what it printed.
    known: u64,
    asked: Option<String>,
    ended: bool,
}

/// Where the cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Start,
    InAnswer,
    InOutput,
}

impl Story {
    pub fn new(reader: Reader) -> Self {
        Self {
            reader,
            markdown: Markdown::new(reader.paint),
            heard: String::new(),
            calls: BTreeMap::new(),
            printing: String::new(),
            stands: Stands::Start,
            own: Vec::new(),
        }
    }

    /// Whether the cursor stands at the beginning of a line.
    pub fn at_start(&self) -> bool {
        self.stands == Stands::Start
    }

    /// The reader has answered this call, and need not be told.
    pub fn answered(&mut self, tool_call_id: &str) {
        self.own.push(tool_call_id.to_owned());
    }

    /// What to print for an update.
    pub fn update(&mut self, update: &TaskUpdate) -> Vec<Piece> {
        match &update.update {
            Some(Update::Text(text)) => self.text(text),
            Some(Update::Thought(thought)) => self.aside(&thought_line(self.reader.paint, thought)),
            Some(Update::ToolCall(call)) => self.call(call),
            Some(Update::LiveOutput(output)) => self.output(output),
            Some(Update::Decided(decided)) => self.decided(decided),
            Some(Update::Message(message)) => self.message(message),
            Some(Update::Artifact(told)) if told.last_chunk => {
                let line = told.artifact.as_ref().map(|artifact| artifact_line(self.reader.paint, artifact));
                self.aside(&line.unwrap_or_default())
            }
            Some(Update::Status(status)) => self.status(status, update.error.as_ref()),
            Some(Update::Artifact(_) | Update::Usage(_) | Update::Created(_)) | None => Vec::new(),
        }
    }

    /// Something of our own, between the lines of the story.
    pub fn aside(&mut self, text: &str) -> Vec<Piece> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut pieces = self.rest();
        pieces.push(Piece { voice: Voice::Aside, text: text.to_owned() });
        pieces
    }

    /// Ends the line that the cursor stands in.
    pub fn rest(&mut self) -> Vec<Piece> {
        let stood = std::mem::replace(&mut self.stands, Stands::Start);
        self.printing.clear();
        match stood {
            Stands::Start => Vec::new(),
            Stands::InAnswer => {
                let text = self.markdown.finish() + "\n";
                vec![Piece { voice: Voice::Answer, text }]
            }
            Stands::InOutput => vec![Piece { voice: Voice::Aside, text: "\n".to_owned() }],
        }
    }

    fn text(&mut self, text: &str) -> Vec<Piece> {
        if text.is_empty() {
            return Vec::new();
        }
        self.heard.push_str(text);
        let mut pieces = if self.stands == Stands::InOutput { self.rest() } else { Vec::new() };
        let shown = self.markdown.push(&safe(text));
        self.stands = if shown.ends_with('\n') { Stands::Start } else { Stands::InAnswer };
        self.printing.clear();
        pieces.push(Piece { voice: Voice::Answer, text: shown });
        pieces
    }

    fn message(&mut self, message: &Message) -> Vec<Piece> {
        let text = message.text();
        match message.role() {
            Role::User if self.reader.bystander && !text.is_empty() => {
                let said = format!("> {}\n", safe_line(&text));
                self.aside(&self.reader.paint.ink(Ink::Bold, &said))
            }
            Role::Agent => self.said(&text),
            _ => Vec::new(),
        }
    }

    /// The whole of what an agent said: shown unless its pieces were.
    fn said(&mut self, text: &str) -> Vec<Piece> {
        let heard = std::mem::take(&mut self.heard);
        let mut pieces = self.rest();
        // A block of code that was not closed ends with the message.
        self.markdown = Markdown::new(self.reader.paint);
        if !text.trim().is_empty() && heard.trim() != text.trim() {
            pieces.extend(self.text(text));
            self.heard.clear();
            pieces.extend(self.rest());
        }
        pieces
    }

    fn status(&mut self, status: &TaskStatus, error: Option<&ErrorDetails>) -> Vec<Piece> {
        let words = status.message.as_ref().map(Message::text).unwrap_or_default();
        let waits = self.calls.values().any(|seen| seen.asked.is_some() && !seen.ended);
        match status.state() {
            // The call itself was shown, with more than words can say.
            TaskState::InputRequired if waits => self.rest(),
            TaskState::InputRequired | TaskState::AuthRequired | TaskState::Completed => self.said(&words),
            TaskState::Failed => {
                let why = error.map(|error| error.message.clone()).unwrap_or(words);
                self.ended(Ink::Red, "failed", &why)
            }
            TaskState::Rejected => self.ended(Ink::Red, "rejected", &words),
            TaskState::Canceled => self.ended(Ink::Yellow, "cancelled", &words),
            _ => Vec::new(),
        }
    }

    fn ended(&mut self, ink: Ink, how: &str, why: &str) -> Vec<Piece> {
        let line = match safe_line(why) {
            why if why.is_empty() => format!("{how}\n"),
            why => format!("{how}: {why}\n"),
        };
        self.aside(&self.reader.paint.ink(ink, &line))
    }

    /// A call has a line when it begins, its request when it asks, and a line when it ends.
    fn call(&mut self, call: &ToolCall) -> Vec<Piece> {
        let paint = self.reader.paint;
        let known = self.calls.contains_key(&call.tool_call_id);
        let seen = self.calls.entry(call.tool_call_id.clone()).or_default();
        seen.name.clone_from(&call.tool_name);
        let mut text = if known { String::new() } else { call::head(paint, call) };
        let asks = call.confirmation_request.as_ref().map(|request| request.fingerprint.clone());
        if asks.is_some() && seen.asked != asks {
            text.push_str(&request::details(paint, call));
            seen.before.asked = true;
        }
        seen.asked = asks;
        seen.before.began |= call.status() == ToolCallStatus::Executing;
        let end = call::end(paint, call, seen.before);
        if !end.is_empty() && !seen.ended {
            seen.ended = true;
            text.push_str(&end);
        }
        self.aside(&text)
    }

    /// Appends by offset: what is known is not printed again.
    fn output(&mut self, output: &LiveOutput) -> Vec<Piece> {
        let seen = self.calls.entry(output.tool_call_id.clone()).or_default();
        let end = output.offset.saturating_add(output.text.len() as u64);
        let skip = usize::try_from(seen.known.saturating_sub(output.offset)).unwrap_or(usize::MAX);
        let Some(fresh) = output.text.get(skip..).filter(|fresh| !fresh.is_empty()) else {
            return Vec::new();
        };
        let gap = output.offset.saturating_sub(seen.known);
        seen.known = end;
        seen.before.printed = true;
        let name = safe_line(&seen.name);
        let mut pieces = Vec::new();
        // Two that print at once are told apart where one takes over from the other.
        if self.printing != output.tool_call_id {
            let other = !self.printing.is_empty();
            pieces = self.rest();
            if other {
                pieces.extend(self.aside(&call::aside(self.reader.paint, &format!("[{name}]"))));
            }
        }
        if gap > 0 {
            pieces.extend(self.aside(&call::aside(self.reader.paint, &format!("[{gap} bytes are missing]"))));
        }
        self.printing.clone_from(&output.tool_call_id);
        pieces.push(self.marked(fresh));
        pieces
    }

    /// Each line of output with its mark, also where a line comes in pieces.
    fn marked(&mut self, text: &str) -> Piece {
        let mut shown = String::new();
        for line in safe(text).split_inclusive('\n') {
            if self.stands == Stands::Start {
                shown.push_str(&self.reader.paint.ink(Ink::Dim, "  │ "));
            }
            shown.push_str(line);
            self.stands = if line.ends_with('\n') { Stands::Start } else { Stands::InOutput };
        }
        Piece { voice: Voice::Aside, text: shown }
    }

    fn decided(&mut self, decided: &ToolCallDecided) -> Vec<Piece> {
        if let Some(seen) = self.calls.get_mut(&decided.tool_call_id) {
            seen.asked = None;
        }
        let Some(decision) = &decided.decision else { return Vec::new() };
        if self.own.contains(&decided.tool_call_id) {
            return Vec::new();
        }
        let changed = if decision.modified { ", with changes" } else { "" };
        let line = format!(
            "  {} answered {}{changed}\n",
            safe_line(&decision.decided_by),
            safe_line(&decision.selected_option_id)
        );
        self.aside(&self.reader.paint.ink(Ink::Yellow, &line))
    }
}

fn thought_line(paint: Paint, thought: &AgentThought) -> String {
    let parts = [&thought.subject, &thought.description].map(|part| safe_line(part));
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    if text.is_empty() { text } else { paint.ink(Ink::Dim, &format!("· {text}\n")) }
}

fn artifact_line(paint: Paint, artifact: &Artifact) -> String {
    paint.ink(Ink::Dim, &format!("◆ {}\n", safe_line(&artifact.name)))
}

#[cfg(test)]
mod tests;
