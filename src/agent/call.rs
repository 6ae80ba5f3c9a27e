//! The life of one tool call as a pure machine.
//!
//! ```text
//!               free                    start                 done
//! validating ----------> scheduled ------------> executing ----------> succeeded, failed
//!   |      \                ^                        |
//!   |       \ asks          | proceed                | done, after cancel
//!   |        v              |                        v
//!   |   awaiting approval --+---- cancel ------> cancelled
//!   |  refused
//!   +----------> failed
//! ```
//!
//! A step takes the state and an input and gives the next state, the events to store and the one thing to do after they
//! are stored; or it refuses. Knows no store, no clock and no tool; the turn drives it.

mod fold;
mod wire;

use crate::domain::tool::{Approval, Call, Outcome, Plan, RESTORE, ToolError};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::tool_call_confirmation::ModifiedDetails;
use crate::proto::devtool::{
    ConfirmationOption, ConfirmationOptionKind, ConfirmationRequest, Decision, ToolCallConfirmation,
};
use crate::proto::task::task_event::Event;

/// One call, wherever it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Calling {
    pub call: Call,
    /// What the model calls it; its answer goes back under this id.
    pub model_id: String,
    /// In words for the user, once it is known.
    description: Option<String>,
    /// Bytes that the tool has printed so far, with those that were left out.
    printed: u64,
    /// The files that it changes were saved when it started.
    saved: bool,
    state: State,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Validating,
    AwaitingApproval { request: ConfirmationRequest },
    Scheduled { approval: Approval, decision: Option<Decision> },
    Executing { decision: Option<Decision>, stopping: bool },
    Ended(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Succeeded,
    Failed,
    Cancelled,
}

/// What can happen to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// It was looked at, and nobody needs to be asked.
    Free(Plan),
    /// It was looked at, and the user is to choose.
    Asks(Plan, Vec<ConfirmationOption>),
    /// It cannot be done as it is, or must not.
    Refused(ToolError),
    Decide(Answer),
    /// The task is being cancelled.
    Cancel,
    /// Its turn has come.
    Start,
    /// The tool printed something.
    Printed(Piece),
    /// The tool is done.
    Done(Result<Outcome, ToolError>),
    /// The process ended in between, and this is another one.
    Recovered,
}

/// A piece of what a tool prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Bytes that were printed since the piece before it and are left out.
    pub skipped: u64,
    pub text: String,
}

/// What the user chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub confirmation: ToolCallConfirmation,
    /// The name of the principal.
    pub by: String,
    /// The message that says so.
    pub message_id: String,
}

/// What to do, once the events are stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Run(Approval),
    Kill,
    /// Such calls need not be asked for again, says this option.
    Remember {
        option: String,
        details: Option<Details>,
    },
}

/// An input that was taken.
#[derive(Debug, PartialEq)]
pub struct Step {
    pub events: Vec<Event>,
    pub effect: Option<Effect>,
}

/// Why an input was not taken. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("this call was decided already: {} by {}", .0.selected_option_id, .0.decided_by)]
    AlreadyDecided(Box<Decision>),
    #[error("this call has ended")]
    Finished,
    #[error("there is no such option; {offered} are offered")]
    UnknownOption { offered: String },
    #[error("what was shown is not what the call asks for now; look at it again")]
    StaleRequest,
    #[error("this call is not waiting for an answer")]
    NotAwaiting,
    #[error("the task has no such call to decide about")]
    UnknownCall,
    #[error("only the content of a file can be changed here, together with an approval")]
    NotModifiable,
    #[error("{0} questions are asked; there cannot be more answers than that")]
    Unasked(usize),
    #[error("a reason goes with a rejection; this is an approval")]
    ReasonToApprove,
    #[error("the call is not where this could happen to it")]
    OutOfPlace,
}

impl Calling {
    pub fn new(call: Call, model_id: String) -> Self {
        Self { call, model_id, description: None, printed: 0, saved: false, state: State::Validating }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn is_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Executing { .. })
    }

    /// What the user is asked, while it is.
    pub fn request(&self) -> Option<&ConfirmationRequest> {
        match &self.state {
            State::AwaitingApproval { request } => Some(request),
            _ => None,
        }
    }

    /// One step of its life.
    pub fn apply(&mut self, input: Input) -> Result<Step, Refusal> {
        let state = std::mem::replace(&mut self.state, State::Validating);
        let kept = state.clone();
        let done = self.step(state, input);
        if done.is_err() {
            self.state = kept;
        }
        done
    }

    /// Every cell is named, so that a new state or input has to be thought about.
    fn step(&mut self, state: State, input: Input) -> Result<Step, Refusal> {
        match (state, input) {
            (State::Validating, Input::Free(plan)) => Ok(self.schedule(plan)),
            (State::Validating, Input::Asks(plan, options)) => Ok(self.ask(plan, options)),
            (State::Validating, Input::Refused(error)) => Ok(self.end(Err(error), None)),
            (State::AwaitingApproval { request }, Input::Decide(answer)) => self.decide(request, answer),
            (State::Scheduled { decision: Some(d), .. }, Input::Decide(_))
            | (State::Executing { decision: Some(d), .. }, Input::Decide(_)) => {
                Err(Refusal::AlreadyDecided(Box::new(d)))
            }
            (State::Ended(_), Input::Decide(_)) => Err(Refusal::Finished),
            (State::Validating | State::Scheduled { .. } | State::Executing { .. }, Input::Decide(_)) => {
                Err(Refusal::NotAwaiting)
            }
            (State::Validating | State::AwaitingApproval { .. }, Input::Cancel) => Ok(self.withdraw(None)),
            (State::Scheduled { decision, .. }, Input::Cancel) => Ok(self.withdraw(decision)),
            (State::Executing { decision, .. }, Input::Cancel) => Ok(self.stop(decision)),
            (State::Scheduled { approval, decision }, Input::Start) => Ok(self.start(approval, decision)),
            (state @ State::Executing { .. }, Input::Printed(piece)) => Ok(self.print(state, &piece)),
            (State::Executing { decision, .. }, Input::Done(result)) => Ok(self.end(result, decision)),
            (State::Executing { decision, .. }, Input::Recovered) => {
                Ok(self.end(Err(interrupted()), decision))
            }
            (state @ (State::Validating | State::AwaitingApproval { .. }), Input::Recovered)
            | (state @ (State::Scheduled { .. } | State::Ended(_)), Input::Recovered) => {
                self.state = state;
                Ok(Step { events: Vec::new(), effect: None })
            }
            (State::Ended(_), _) => Err(Refusal::Finished),
            (
                State::Validating | State::AwaitingApproval { .. } | State::Scheduled { .. },
                Input::Start | Input::Printed(_) | Input::Done(_),
            )
            | (
                State::AwaitingApproval { .. } | State::Scheduled { .. } | State::Executing { .. },
                Input::Free(_) | Input::Asks(..) | Input::Refused(_),
            )
            | (State::Executing { .. }, Input::Start) => Err(Refusal::OutOfPlace),
        }
    }

    fn schedule(&mut self, plan: Plan) -> Step {
        self.description = Some(plan.description);
        let approval = Approval { details: Some(plan.details), ..Approval::default() };
        self.state = State::Scheduled { approval, decision: None };
        Step { events: vec![self.shown()], effect: None }
    }

    fn ask(&mut self, plan: Plan, options: Vec<ConfirmationOption>) -> Step {
        self.description = Some(plan.description);
        let fingerprint = wire::fingerprint(&self.call, &plan.details);
        let request = ConfirmationRequest { options, details: Some(plan.details), fingerprint };
        self.state = State::AwaitingApproval { request };
        Step { events: vec![self.shown()], effect: None }
    }

    fn decide(&mut self, request: ConfirmationRequest, answer: Answer) -> Result<Step, Refusal> {
        let Answer { confirmation, by, message_id } = answer;
        let stale = |shown: &String| *shown != request.fingerprint;
        if confirmation.fingerprint.as_ref().is_some_and(stale) {
            return Err(Refusal::StaleRequest);
        }
        let option = request.options.iter().find(|option| option.id == confirmation.selected_option_id);
        let Some(kind) = option.map(ConfirmationOption::kind) else {
            let offered = request.options.iter().map(|o| o.id.as_str()).collect::<Vec<_>>().join(", ");
            return Err(Refusal::UnknownOption { offered });
        };
        let questions = match &request.details {
            Some(Details::GenericDetails(details)) => details.questions.len(),
            _ => 0,
        };
        if confirmation.answers.len() > questions {
            return Err(Refusal::Unasked(questions));
        }
        if allows(kind) && confirmation.reject_reason.as_ref().is_some_and(|reason| !reason.is_empty()) {
            return Err(Refusal::ReasonToApprove);
        }
        let content =
            confirmation.modified_details.map(|ModifiedDetails::FileDetails(file)| file.new_content);
        let decision = Decision {
            selected_option_id: confirmation.selected_option_id,
            decided_by: by,
            modified: content.is_some(),
            reject_reason: confirmation.reject_reason.filter(|reason| !reason.is_empty()),
            answers: confirmation.answers,
        };
        let decided = wire::decided(&self.call, &request, &decision, content.clone(), message_id);
        let mut step = if allows(kind) {
            let details = wire::changed(request.details, content).ok_or(Refusal::NotModifiable)?;
            self.approve(details, decision, kind)
        } else {
            content.is_none().then_some(()).ok_or(Refusal::NotModifiable)?;
            self.withdraw(Some(decision))
        };
        step.events.insert(0, decided);
        Ok(step)
    }

    fn approve(
        &mut self,
        details: Option<Details>,
        decision: Decision,
        kind: ConfirmationOptionKind,
    ) -> Step {
        let remember =
            || Effect::Remember { option: decision.selected_option_id.clone(), details: details.clone() };
        let effect = (kind == ConfirmationOptionKind::AllowAlways).then(remember);
        let (modified, answers) = (decision.modified, decision.answers.clone());
        let approval = Approval { details, modified, answers };
        self.state = State::Scheduled { approval, decision: Some(decision) };
        // The call itself is shown when it starts, or when it turns out that it has to wait.
        Step { events: Vec::new(), effect }
    }

    /// Ends before it has begun.
    fn withdraw(&mut self, decision: Option<Decision>) -> Step {
        self.state = State::Ended(End::Cancelled);
        let why = decision.as_ref().map_or("the task was cancelled", |_| "the user did not allow it");
        let reason = decision.as_ref().and_then(|d| d.reject_reason.clone());
        let error = wire::cancelled(reason.as_deref().unwrap_or(why));
        let shown = self.ended(End::Cancelled, Some(error), None, decision, None);
        Step { events: vec![shown, self.answered_cancelled(why, reason.as_deref(), "")], effect: None }
    }

    fn start(&mut self, approval: Approval, decision: Option<Decision>) -> Step {
        self.state = State::Executing { decision, stopping: false };
        self.saved = approval.saves().is_some() || self.call.tool == RESTORE;
        Step { events: vec![self.shown()], effect: Some(Effect::Run(approval)) }
    }

    fn stop(&mut self, decision: Option<Decision>) -> Step {
        self.state = State::Executing { decision, stopping: true };
        Step { events: Vec::new(), effect: Some(Effect::Kill) }
    }

    fn print(&mut self, state: State, piece: &Piece) -> Step {
        self.state = state;
        let offset = self.printed + piece.skipped;
        self.printed = offset + piece.text.len() as u64;
        let event = wire::printed(&self.call.id, offset, &piece.text);
        Step { events: vec![event], effect: None }
    }

    /// What the tool gave back is the truth, also if it was asked to stop a moment before.
    fn end(&mut self, result: Result<Outcome, ToolError>, decision: Option<Decision>) -> Step {
        let events = match result {
            Ok(outcome) => {
                self.state = State::Ended(End::Succeeded);
                let shown = self.ended(End::Succeeded, None, Some(outcome.shown.clone()), decision, None);
                vec![shown, self.answered(outcome)]
            }
            Err(ToolError::Failed { kind, message, code }) => {
                self.state = State::Ended(End::Failed);
                let answer = self.answered_failed(&message);
                let error = Some(wire::error(kind, message, code));
                vec![self.ended(End::Failed, error, None, decision, None), answer]
            }
            Err(ToolError::Cancelled { so_far }) => {
                self.state = State::Ended(End::Cancelled);
                let why = "it was stopped while it ran";
                let answer = self.answered_cancelled(why, None, &so_far);
                let error = Some(wire::cancelled(why));
                vec![self.ended(End::Cancelled, error, None, decision, Some(so_far)), answer]
            }
        };
        Step { events, effect: None }
    }
}

/// Whether an option lets the call go on. Whatever is not clearly that, does not.
fn allows(kind: ConfirmationOptionKind) -> bool {
    matches!(kind, ConfirmationOptionKind::AllowOnce | ConfirmationOptionKind::AllowAlways)
}

fn interrupted() -> ToolError {
    let message =
        "the server was stopped while this ran; whether it took effect is not known, and it is not run again";
    ToolError::new("interrupted", message)
}

#[cfg(test)]
mod tests;
