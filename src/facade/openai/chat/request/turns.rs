//! What was said, in the order that a model takes it: instructions first, then turns of the two sides, and behind each turn
//! with calls one content with their answers, in the order of the calls. Knows no dialect.

use serde_json::json;

use crate::facade::Report;
use crate::facade::waiting::Waiting;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, FunctionCall, FunctionResponse, Part};

/// Something that was said, and where in the request.
#[derive(Debug)]
pub struct Told {
    pub at: String,
    pub said: Said,
}

#[derive(Debug)]
pub enum Said {
    /// By whoever made the program.
    System(String),
    User(Vec<Part>),
    /// With its calls.
    Model(Vec<Part>),
    Answer(Answered),
}

/// What became of a call.
#[derive(Debug, Default)]
pub struct Answered {
    /// Empty where only the name tells.
    pub id: String,
    pub name: String,
    /// A JSON object (JSON text).
    pub response: String,
    pub parts: Vec<Part>,
}

#[derive(Debug, Default)]
pub struct Arranged {
    pub system: Vec<String>,
    pub contents: Vec<Content>,
}

pub fn arrange(all: Vec<Told>, report: &mut Report) -> Arranged {
    let mut turns = Turns {
        report,
        done: Arranged::default(),
        open: Open::default(),
        begun: false,
        goes_on: false,
        calls: 0,
    };
    for told in all {
        turns.take(told);
    }
    turns.settle();
    turns.done
}

/// The last turn of the model, and what followed it so far.
#[derive(Debug, Default)]
struct Open {
    at: String,
    model: Vec<Part>,
    answers: Vec<(String, Answered)>,
    others: Vec<Said>,
}

struct Turns<'a> {
    report: &'a mut Report,
    done: Arranged,
    open: Open,
    /// Somebody else than the system has said something.
    begun: bool,
    /// What the user says next belongs to the last content.
    goes_on: bool,
    calls: usize,
}

impl Turns<'_> {
    fn take(&mut self, told: Told) {
        match told.said {
            Said::System(text) if !self.begun => self.done.system.push(text),
            Said::Model(parts) => {
                if !self.open.answers.is_empty() || !self.open.others.is_empty() {
                    self.settle();
                }
                if self.open.model.is_empty() {
                    self.open.at = told.at;
                }
                self.open.model.extend(parts);
                self.begun = true;
            }
            Said::Answer(answer) => {
                self.open.answers.push((told.at, answer));
                self.begun = true;
            }
            other => {
                self.begun = true;
                self.open.others.push(other);
            }
        }
    }

    /// The model's turn, the answers to its calls, and then the rest.
    fn settle(&mut self) {
        let Open { at, mut model, answers, others } = std::mem::take(&mut self.open);
        let mut answers = Waiting::new(answers, |(_, answer)| (&answer.id, &answer.name));
        self.goes_on = false;
        let calls: Vec<FunctionCall> = model.iter_mut().filter_map(|part| self.named(part)).collect();
        if !model.is_empty() {
            self.done.contents.push(content("model", model));
        }
        let mut responses = Vec::new();
        for call in calls {
            responses.push(self.response(call, &at, &mut answers));
        }
        if !responses.is_empty() {
            self.done.contents.push(content("user", responses));
        }
        for (at, _) in answers.rest() {
            self.report.dropped(at, "answers a call that was not made, or answers it again");
        }
        others.into_iter().for_each(|said| self.other(said));
    }

    /// A call, which has an id from now on.
    fn named(&mut self, part: &mut Part) -> Option<FunctionCall> {
        let Some(Data::FunctionCall(call)) = &mut part.data else { return None };
        if call.id.is_empty() {
            // The same whenever the conversation is told again.
            call.id = format!("call_{}", self.calls);
        }
        self.calls += 1;
        Some(call.clone())
    }

    fn response(&mut self, call: FunctionCall, at: &str, answers: &mut Waiting<(String, Answered)>) -> Part {
        let answer = answers.take(&call.id, &call.name).map(|(_, answer)| answer);
        let Answered { response, parts, .. } = answer.unwrap_or_else(|| {
            self.report.guessed(at, &format!("the call {} has no answer; the model is told so", call.id));
            let response = json!({"error": "there is no result of this call"}).to_string();
            Answered { response, ..Answered::default() }
        });
        Part::of(Data::FunctionResponse(FunctionResponse { id: call.id, name: call.name, response, parts }))
    }

    fn other(&mut self, said: Said) {
        match said {
            Said::System(text) => {
                let text = format!("This is an instruction of the system, not of the user:\n{text}");
                self.done.contents.push(content("user", vec![Part::text(text)]));
                self.goes_on = false;
            }
            Said::User(parts) => self.user(parts),
            Said::Model(_) | Said::Answer(_) => {}
        }
    }

    /// Neighbours become one turn; answers of tools and instructions stand alone.
    fn user(&mut self, parts: Vec<Part>) {
        let last = self.done.contents.last_mut().filter(|_| self.goes_on);
        match last {
            Some(last) => last.parts.extend(parts),
            None => self.done.contents.push(content("user", parts)),
        }
        self.goes_on = true;
    }
}

fn content(role: &str, parts: Vec<Part>) -> Content {
    Content { role: role.to_owned(), parts }
}
