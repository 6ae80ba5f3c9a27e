//! A task as A2A shows it, folded from its events. Pure; services answer with it, the agent reads what was said.

use super::calls::OpenCalls;
use crate::proto::a2a::{Artifact, Message, Role, Task, TaskState, TaskStatus};
use crate::proto::devtool::AgentSettings;
use crate::proto::task::task_event::Event;
use crate::proto::task::{ArtifactDelta, StateChanged, TaskEvent};

/// A task up to some event of its journal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    pub task: Task,
    pub tenant: String,
    /// Of the last event that is in it.
    pub sequence: u64,
    pub calls: OpenCalls,
    /// A turn of it ends by waiting for the next message.
    pub conversational: bool,
    pub settings: Option<AgentSettings>,
}

impl Snapshot {
    pub fn of<'a>(events: impl IntoIterator<Item = &'a TaskEvent>) -> Self {
        let mut snapshot = Self::default();
        events.into_iter().for_each(|event| snapshot.fold(event));
        snapshot
    }

    pub fn fold(&mut self, event: &TaskEvent) {
        self.sequence = event.sequence;
        match &event.event {
            Some(Event::Created(created)) => {
                self.task.id.clone_from(&created.task_id);
                self.task.context_id.clone_from(&created.context_id);
                self.tenant.clone_from(&created.tenant);
                self.conversational = created.conversational;
                self.settings.clone_from(&created.settings);
                let status =
                    TaskStatus { state: TaskState::Submitted.into(), timestamp: event.time, message: None };
                self.task.status = Some(status);
            }
            Some(Event::State(change)) => self.change(change, event),
            Some(Event::Artifact(delta)) => self.artifact(delta),
            Some(Event::Message(message)) => self.task.history.push(Message::clone(message)),
            Some(what @ (Event::ToolCall(_) | Event::ToolOutput(_))) => self.calls.fold(what),
            Some(what @ Event::Decision(_)) => {
                self.calls.fold(what);
                self.go_on(event);
            }
            _ => {}
        }
    }

    /// An answer to what was asked, and the work goes on.
    fn go_on(&mut self, event: &TaskEvent) {
        let working = TaskStatus { state: TaskState::Working.into(), timestamp: event.time, message: None };
        match &mut self.task.status {
            Some(status) if status.state() == TaskState::InputRequired => *status = working,
            _ => {}
        }
    }

    /// A state that ends a turn shows what was said last, so that whoever only reads the task finds the answer.
    fn change(&mut self, change: &StateChanged, event: &TaskEvent) {
        let state = change.state();
        let answer = || self.task.history.last().filter(|m| m.role() == Role::Agent).cloned();
        let ends = state.is_terminal() || state.is_interrupted();
        let message = change.message.clone().or_else(|| ends.then(answer).flatten());
        self.task.status = Some(TaskStatus { state: state.into(), timestamp: event.time, message });
    }

    fn artifact(&mut self, delta: &ArtifactDelta) {
        let Some(piece) = &delta.artifact else { return };
        let known = self.task.artifacts.iter_mut().find(|artifact| artifact.artifact_id == piece.artifact_id);
        match known {
            Some(artifact) if delta.append => extend(artifact, piece),
            Some(artifact) => artifact.clone_from(piece),
            None => self.task.artifacts.push(piece.clone()),
        }
    }
}

/// Pieces of text grow together, so that an artifact reads the same however it was sent.
fn extend(artifact: &mut Artifact, piece: &Artifact) {
    use crate::proto::a2a::part::Content;
    for part in &piece.parts {
        match (artifact.parts.last_mut().and_then(|last| last.content.as_mut()), &part.content) {
            (Some(Content::Text(text)), Some(Content::Text(more))) if part.metadata.is_none() => {
                text.push_str(more)
            }
            _ => artifact.parts.push(part.clone()),
        }
    }
}

/// The last `length` messages; none means all, 0 means none.
pub fn shorten(history: &mut Vec<Message>, length: Option<usize>) {
    if let Some(length) = length {
        history.drain(..history.len().saturating_sub(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::a2a::Part;
    use crate::proto::task::Created;

    fn event(sequence: u64, event: Event) -> TaskEvent {
        TaskEvent { sequence, time: None, event: Some(event) }
    }

    fn said(role: Role, text: &str) -> Event {
        let parts = vec![Part::text(text)];
        Event::Message(Box::new(Message { role: role.into(), parts, ..Message::default() }))
    }

    #[test]
    fn a_task_is_the_sum_of_its_events() {
        let created = Created { task_id: "t".to_owned(), context_id: "c".to_owned(), ..Created::default() };
        let piece = |text: &str, append| {
            let parts = vec![Part::text(text)];
            let artifact = Some(Artifact { artifact_id: "a".to_owned(), parts, ..Artifact::default() });
            Event::Artifact(Box::new(ArtifactDelta { artifact, append, ..ArtifactDelta::default() }))
        };
        let state = |state: TaskState| {
            Event::State(Box::new(StateChanged { state: state.into(), ..StateChanged::default() }))
        };
        let events = [
            event(1, Event::Created(Box::new(created))),
            event(2, said(Role::User, "hi")),
            event(3, state(TaskState::Working)),
            event(4, piece("one ", false)),
            event(5, piece("two", true)),
            event(6, said(Role::Agent, "done")),
            event(7, state(TaskState::Completed)),
        ];
        let snapshot = Snapshot::of(&events);
        assert_eq!((snapshot.task.id.as_str(), snapshot.sequence), ("t", 7));
        assert_eq!(snapshot.task.artifacts[0].parts, [Part::text("one two")]);
        assert_eq!(snapshot.task.history.len(), 2);
        let status = snapshot.task.status.unwrap();
        assert_eq!(
            (status.state(), status.message.unwrap().text()),
            (TaskState::Completed, "done".to_owned())
        );
    }

    #[test]
    fn a_history_can_be_cut_to_its_end() {
        let all: Vec<Message> =
            (0..3).map(|n| Message { message_id: n.to_string(), ..Message::default() }).collect();
        for (length, left) in [(None, 3), (Some(0), 0), (Some(2), 2), (Some(9), 3)] {
            let mut history = all.clone();
            shorten(&mut history, length);
            assert_eq!(history, all[3 - left..]);
        }
    }
}
