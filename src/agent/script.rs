//! From the steps of a brain to the events of a task. Pure: it decides what is written down, the runner writes it.

use bytes::Bytes;

use crate::domain::brain::{End, Step};
use crate::proto::a2a::{Message, Part, Role, TaskState};
use crate::proto::devtool::ErrorDetails;
use crate::proto::task::task_event::Event;
use crate::proto::task::{ArtifactDelta, StateChanged, TextDelta};

/// The writer of one turn.
#[derive(Debug)]
pub(super) struct Writer {
    task_id: String,
    context_id: String,
    /// Of the answer that the pieces of text add up to.
    message_id: String,
    shared_id: Bytes,
    text: String,
    /// How a turn ends that has done its work.
    rest: TaskState,
}

impl Writer {
    pub(super) fn new(task_id: &str, context_id: &str, message_id: String) -> Self {
        Self {
            task_id: task_id.to_owned(),
            context_id: context_id.to_owned(),
            shared_id: message_id.clone().into(),
            message_id,
            text: String::new(),
            rest: TaskState::Completed,
        }
    }

    pub(super) fn resting(self, rest: TaskState) -> Self {
        Self { rest, ..self }
    }

    /// A change of state without words.
    pub(super) fn state(state: TaskState) -> Event {
        Event::State(Box::new(StateChanged { state: state.into(), ..StateChanged::default() }))
    }

    /// The process ended in the middle of a turn.
    pub(super) fn interrupted(&self) -> Event {
        const WHY: &str = "the server was stopped in the middle of this turn; how far it got is not known";
        self.failed(WHY, "interrupted")
    }

    /// The server itself could not go on.
    pub(super) fn broken(&self) -> Event {
        self.failed("the server could not go on with this task; its log says why", "internal")
    }

    /// Words of the agent, as they enter the history.
    pub(super) fn said(&self, message_id: &str, text: &str) -> Option<Event> {
        (!text.is_empty()).then(|| Event::Message(Box::new(self.message(message_id.to_owned(), text))))
    }

    /// Waits for the user, who is asked this.
    pub(super) fn asks(&self, question: &str) -> Event {
        let message = Some(self.message(self.message_id.clone(), question));
        let state = TaskState::InputRequired.into();
        Event::State(Box::new(StateChanged { state, message, error: None }))
    }

    pub(super) fn failed(&self, why: &str, kind: &str) -> Event {
        let error =
            ErrorDetails { message: why.to_owned(), r#type: Some(kind.to_owned()), status_code: None };
        let message = Some(self.message(self.message_id.clone(), why));
        let state = TaskState::Failed.into();
        Event::State(Box::new(StateChanged { state, message, error: Some(error) }))
    }

    /// Adds what the steps come to. Tells whether the turn ends with them. `more_is_said` means that a message waits: then
    /// a completed turn is followed by another, and the task is not completed yet.
    pub(super) fn events(
        &mut self,
        steps: Vec<Step>,
        state: TaskState,
        more_is_said: bool,
        events: &mut Vec<Event>,
    ) -> bool {
        let mut working = state == TaskState::Working;
        for step in steps {
            if let Step::End(end) = step {
                self.end(end, more_is_said, events);
                return true;
            }
            if !working {
                events.push(Self::state(TaskState::Working));
                working = true;
            }
            events.push(self.step(step));
        }
        false
    }

    fn step(&mut self, step: Step) -> Event {
        match step {
            Step::Text(text) => {
                self.text.push_str(&text);
                Event::Text(TextDelta { text, model: String::new(), message_id: self.shared_id.clone() })
            }
            Step::Thought(thought) => Event::Thought(thought),
            Step::Artifact { artifact, append, last_chunk } => Event::Artifact(Box::new(ArtifactDelta {
                artifact: Some(*artifact),
                append,
                last_chunk,
                of_file: false,
            })),
            // `events` has taken it out; a state that is set again would be refused by the machine.
            Step::End(_) => Self::state(TaskState::Working),
        }
    }

    fn end(&mut self, end: End, more_is_said: bool, events: &mut Vec<Event>) {
        if !self.text.is_empty() {
            events.push(Event::Message(Box::new(self.message(self.message_id.clone(), &self.text))));
        }
        let completes = matches!(end, End::Completed(_));
        let (state, words, error) = match end {
            End::Completed(words) => (self.rest, words, None),
            End::InputRequired(question) => (TaskState::InputRequired, Some(question), None),
            End::Rejected(why) => (TaskState::Rejected, Some(why), None),
            End::Failed(why) => {
                let error = ErrorDetails { message: why.clone(), ..ErrorDetails::default() };
                (TaskState::Failed, Some(why), Some(error))
            }
        };
        let message = words.map(|words| self.message(format!("{}-end", self.message_id), &words));
        if more_is_said && completes {
            events.extend(message.map(Box::new).map(Event::Message));
            return;
        }
        events.push(Event::State(Box::new(StateChanged { state: state.into(), message, error })));
    }

    fn message(&self, message_id: String, text: &str) -> Message {
        Message {
            message_id,
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            role: Role::Agent.into(),
            parts: vec![Part::text(text)],
            ..Message::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(events: &[Event]) -> String {
        let word = |event: &Event| match event {
            Event::State(change) => format!("{:?}", change.state()).to_lowercase(),
            Event::Text(delta) => format!("+{}", delta.text),
            Event::Message(message) => format!("[{}]", message.text()),
            _ => "?".to_owned(),
        };
        events.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn text(text: &str) -> Step {
        Step::Text(text.to_owned())
    }

    #[test]
    fn a_turn_works_if_it_has_something_to_do_and_then_ends() {
        for (steps, state, waiting, expected) in [
            (
                vec![text("a"), text("b"), Step::End(End::Completed(None))],
                TaskState::Submitted,
                false,
                "working +a +b [ab] completed",
            ),
            (vec![Step::End(End::Completed(None))], TaskState::Submitted, false, "completed"),
            (vec![Step::End(End::Rejected("no".to_owned()))], TaskState::Submitted, false, "rejected"),
            (vec![text("a"), Step::End(End::Completed(None))], TaskState::Working, true, "+a [a]"),
            (
                vec![Step::End(End::InputRequired("?".to_owned()))],
                TaskState::InputRequired,
                true,
                "inputrequired",
            ),
            (vec![text("a")], TaskState::InputRequired, false, "working +a"),
        ] {
            let mut writer = Writer::new("t", "c", "m".to_owned());
            let mut events = Vec::new();
            writer.events(steps, state, waiting, &mut events);
            assert_eq!(shape(&events), expected);
        }
    }
}
