//! Hearing: what the user says to a task that is there. It is a decision about calls that wait, an answer to a question,
//! or something for the next turn.

use super::batch::Batch;
use super::call::{Answer, Calling, Effect, Input, Refusal};
use super::conversation::says_more;
use super::policy::answer::{self as words, Answer as Words};
use super::policy::rule;
use super::runner::{Along, Failed, Runner, Said};
use super::script::Writer;
use super::session::Session;
use crate::domain::grant::AlwaysRule;
use crate::domain::tool::Plan;
use crate::proto::a2a::{Message, TaskState};
use crate::proto::devtool::ToolCallConfirmation;
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::task::task_event::Event;

/// Ends a call that runs. No option of a question: whoever is asked and says no says `cancel`.
const STOP: &str = "stop";

/// What a message comes to that decides about calls.
#[derive(Default)]
struct Decided {
    events: Vec<Event>,
    grants: Vec<AlwaysRule>,
    /// Calls that are to end.
    stopped: Vec<String>,
}

/// A decision, and the part of the message that it came in.
type Placed = (usize, ToolCallConfirmation);

impl Runner {
    /// Takes a message or refuses it; a refused one changes nothing. Returns its sequence.
    pub(super) async fn hear(&mut self, said: Said) -> Result<u64, Failed> {
        let Said { message, key, decisions, push } = said;
        let along = Along { send: Some(key), push, grants: Vec::new() };
        let interrupted = self.machine.state().is_interrupted();
        // The message comes first; what it causes at once stands behind it, where its sender looks for it.
        let sequence = self.machine.sequence() + 1;
        if interrupted {
            self.recall().await;
        }
        if interrupted || !decisions.is_empty() {
            let decisions = self.decisions(&message, decisions, interrupted).await?;
            if !decisions.is_empty() {
                let Decided { events, grants, stopped } = self.decide(&message, decisions).await?;
                self.store(events, Along { grants: grants.clone(), ..along }).await?;
                self.session().await?.policy.always.extend(grants);
                self.stop(&stopped).await?;
                self.keep_for_later(message);
                return Ok(sequence);
            }
        }
        let mut events = vec![Event::Message(Box::new(message.clone()))];
        if interrupted {
            // In the same commit, so that what was answered cannot be forgotten.
            events.push(Writer::state(TaskState::Working));
        }
        self.store(events, along).await?;
        self.said.push(message);
        Ok(sequence)
    }

    /// Between turns, what was said and not worked on is in the journal alone if this runner has just begun.
    async fn recall(&mut self) {
        if self.said.is_empty()
            && let Ok(session) = self.session().await
        {
            self.said = session.work.conversation.waiting().to_vec();
        }
    }

    /// To a task that asks, plain words are an answer to the call that was asked for.
    async fn decisions(
        &mut self,
        message: &Message,
        decisions: Vec<Placed>,
        interrupted: bool,
    ) -> Result<Vec<Placed>, Failed> {
        if !decisions.is_empty() || !interrupted {
            return Ok(decisions);
        }
        // Without its workspace no call can be asked for; whoever goes on with the task hears what is wrong with it.
        let Ok(session) = self.session().await else { return Ok(decisions) };
        let asked = session.work.batch.asking().next();
        Ok(asked.map(|calling| (0, in_words(calling, &message.text()))).into_iter().collect())
    }

    /// What the decisions come to, all of them or none.
    async fn decide(&mut self, message: &Message, decisions: Vec<Placed>) -> Result<Decided, Failed> {
        let by = self.owner.who.name().to_owned();
        let session = self.session().await?;
        let mut batch = session.work.batch.clone();
        let mut decided =
            Decided { events: vec![Event::Message(Box::new(message.clone()))], ..Decided::default() };
        for (part, confirmation) in decisions {
            let id = confirmation.tool_call_id.clone();
            let input = match confirmation.selected_option_id.as_str() {
                STOP if batch.get(&id).is_some_and(Calling::is_running) => Input::Cancel,
                _ => {
                    let message_id = message.message_id.clone();
                    Input::Decide(Answer { confirmation, by: by.clone(), message_id })
                }
            };
            let step = batch.apply(&id, input).map_err(|refusal| Failed::Decision { part, refusal })?;
            decided.events.extend(step.events);
            match step.effect {
                Some(Effect::Remember { option, details }) => {
                    decided.grants.extend(session.granted(&batch, &id, &option, details));
                }
                Some(Effect::Kill) => decided.stopped.push(id),
                Some(Effect::Run(_)) | None => {}
            }
        }
        Ok(decided)
    }

    /// Once it is stored. The call itself ends when its processes are gone.
    async fn stop(&mut self, tool_call_ids: &[String]) -> Result<(), Failed> {
        let session = self.session().await?;
        for id in tool_call_ids {
            // Refused where it ended meanwhile.
            let _ = session.work.batch.apply(id, Input::Cancel);
            session.hands.stop(id);
        }
        Ok(())
    }

    /// Words beside a decision wait for the next turn.
    fn keep_for_later(&mut self, message: Message) {
        if says_more(&message) {
            self.said.push(message);
        }
    }
}

impl Session {
    fn granted(&self, batch: &Batch, id: &str, option: &str, details: Option<Details>) -> Vec<AlwaysRule> {
        let plan = details.map(|details| Plan {
            description: String::new(),
            details,
            always_asks: false,
            paths: vec![],
        });
        let subject = batch.get(id).zip(plan).and_then(|(calling, plan)| self.subject(&calling.call, &plan));
        let granted = subject.and_then(|subject| rule::grants(&subject, option));
        granted.into_iter().flatten().collect()
    }
}

/// What plain words mean for a call.
fn in_words(calling: &Calling, text: &str) -> ToolCallConfirmation {
    let Some(request) = calling.request() else { return ToolCallConfirmation::default() };
    let mut confirmation =
        ToolCallConfirmation { tool_call_id: calling.call.id.clone(), ..ToolCallConfirmation::default() };
    match words::read(request, text) {
        Words::Selected(option) => confirmation.selected_option_id = option,
        Words::Answered(answers) => {
            confirmation.selected_option_id = "proceed_once".to_owned();
            confirmation.answers = answers;
        }
        Words::Rejected { reason } => {
            confirmation.selected_option_id = "cancel".to_owned();
            confirmation.reject_reason = Some(reason);
        }
    }
    confirmation
}

impl Refusal {
    /// The member of the confirmation that is wrong.
    pub fn field(&self) -> &'static str {
        match self {
            Self::UnknownCall | Self::NotAwaiting | Self::Finished | Self::OutOfPlace => "tool_call_id",
            Self::UnknownOption { .. } | Self::AlreadyDecided(_) => "selected_option_id",
            Self::StaleRequest => "fingerprint",
            Self::Unasked(_) => "answers",
            Self::ReasonToApprove => "reject_reason",
            Self::NotModifiable => "file_details",
        }
    }
}
