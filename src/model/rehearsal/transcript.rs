//! An answer as the rule that gives it again. Each chunk becomes one entry: in the words of a script where reading them gives
//! the very same chunk, and as it is otherwise. Pure; the recorder calls it.

use std::fmt::Write;
use std::time::Duration;

use super::beat::{Beat, Beats, MODEL};
use super::conversation::Conversation;
use super::duration::{MOST, MOST_AFTER, print};
use super::fault;
use super::fill::Filler;
use super::script::Script;
use super::spoken::{Form, spoken};
use super::yaml::{quoted, verbatim};
use crate::domain::model::{ModelError, Staged};
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};
use crate::proto::vendor;

/// What was asked, and what came when. Times count from when it was asked.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) struct Take {
    pub(in crate::model) said: String,
    pub(in crate::model) turn: usize,
    pub(in crate::model) answered: usize,
    pub(in crate::model) chunks: Vec<(Duration, GenerateContentResponse)>,
    pub(in crate::model) end: (Duration, Outcome),
}

/// How an answer came to its end.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) enum Outcome {
    Whole,
    Failed(ModelError),
    /// The caller did not wait for the rest.
    Left,
}

impl Take {
    pub(in crate::model) fn of(request: &GenerateContentRequest) -> Self {
        let Conversation { said, turn, answered, .. } = Conversation::of(request);
        Self { said, turn, answered, chunks: Vec::new(), end: (Duration::ZERO, Outcome::Left) }
    }

    /// The rule, to stand behind `rules:` or behind another.
    pub(in crate::model) fn rule(&self) -> String {
        let mut transcript = Transcript::default();
        let (said, turn, answered) = (quoted(&self.said), self.turn, self.answered);
        let _ =
            write!(transcript.text, "- when: {{said: {said}, turn: {turn}, answered: {answered}}}\n  do:\n");
        self.chunks.iter().for_each(|(at, chunk)| transcript.chunk(*at, chunk));
        transcript.end(self.end.0, &self.end.1);
        transcript.text
    }
}

struct Transcript {
    text: String,
    /// Up to where the waits so far lead. Whole milliseconds of the time itself, so that what is cut off does not add up.
    waited: u128,
    model: String,
    response_id: String,
    heard: bool,
    /// A chunk said why the answer ends.
    finished: bool,
}

impl Default for Transcript {
    fn default() -> Self {
        Self {
            text: String::new(),
            waited: 0,
            model: MODEL.to_owned(),
            response_id: String::new(),
            heard: false,
            finished: false,
        }
    }
}

impl Transcript {
    fn chunk(&mut self, at: Duration, chunk: &GenerateContentResponse) {
        self.heard = true;
        self.finished |= chunk.candidates.iter().any(|candidate| !candidate.finish_reason.is_empty());
        if let Some(members) = in_words(chunk) {
            self.names(chunk);
            self.entry(at, members);
            return;
        }
        let mut json = Vec::new();
        match vendor::encode(chunk, &mut json) {
            Ok(()) => self.entry(at, vec![format!("chunk: {}", verbatim(&String::from_utf8_lossy(&json)))]),
            Err(_) => self.text += "  # Here was a chunk that has no JSON.\n",
        }
    }

    /// What all chunks of an answer have in common is told once.
    fn names(&mut self, chunk: &GenerateContentResponse) {
        for (name, told, new) in [
            ("model", &mut self.model, &chunk.model_version),
            ("response_id", &mut self.response_id, &chunk.response_id),
        ] {
            if told != new {
                told.clone_from(new);
                let _ = writeln!(self.text, "  - {name}: {}", quoted(new));
            }
        }
    }

    fn end(&mut self, at: Duration, outcome: &Outcome) {
        match outcome {
            Outcome::Whole if self.finished => self.entry(at, Vec::new()),
            Outcome::Whole => self.entry(at, vec!["end".to_owned()]),
            Outcome::Failed(error) => self.entry(at, vec![self.fault(error)]),
            Outcome::Left => {
                let _ = writeln!(self.text, "  - silence  # The caller left after {}.", print(at));
            }
        }
    }

    fn fault(&self, error: &ModelError) -> String {
        let status = match error.staged {
            Some(Staged::Reset) if *error == fault::reset(self.heard) => return "reset".to_owned(),
            Some(Staged::Garbage) if *error == fault::garbage() => return "garbage".to_owned(),
            Some(Staged::Status(status)) => status,
            _ => fault::status(error.cause),
        };
        let after = error.retry_after.map(|time| format!(", after: {}", print(time.min(MOST_AFTER))));
        let message = quoted(&error.message);
        format!("error: {{status: {status}, message: {message}{}}}", after.unwrap_or_default())
    }

    /// One line.
    fn entry(&mut self, at: Duration, mut members: Vec<String>) {
        let wait = at.as_millis().saturating_sub(self.waited);
        self.waited += wait;
        if wait > 0 {
            let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(u64::MAX)).min(MOST);
            members.insert(0, format!("wait: {}", print(wait)));
        }
        let _ = match members.as_slice() {
            [] => Ok(()),
            [alone] => writeln!(self.text, "  - {alone}"),
            several => writeln!(self.text, "  - {{{}}}", several.join(", ")),
        };
    }
}

/// The first way to say it that gives it again.
fn in_words(chunk: &GenerateContentResponse) -> Option<Vec<String>> {
    let ways = [Form::Members, Form::Text].into_iter().filter_map(|form| spoken(chunk, form));
    ways.into_iter().find(|members| read_again(members, chunk).as_ref() == Some(chunk))
}

/// What a script makes of it, in an answer that names what the chunk names.
fn read_again(members: &[String], chunk: &GenerateContentResponse) -> Option<GenerateContentResponse> {
    let (model, id) = (quoted(&chunk.model_version), quoted(&chunk.response_id));
    let lines = format!("- model: {model}\n- response_id: {id}\n- {{{}}}\n", members.join(", "));
    let script = Script::of_lines(&lines).ok()?;
    let filler = Filler { text: "", result: "" };
    let mut beats = Beats::new(&Conversation::default());
    script.anything()?.lines.iter().for_each(|line| beats.push(filler.line(line)));
    match beats.made().pop() {
        Some(Beat::Chunk(chunk)) => Some(chunk),
        _ => None,
    }
}
