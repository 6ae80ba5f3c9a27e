//! TaskEvent to the typed service's updates: one event becomes at most one. An update stands for itself, so a client that
//! comes back needs nothing but its cursor, and the server reads nothing before it. Pure; the service calls it.

use std::collections::BTreeMap;

use crate::proto::a2a::{Message, TaskState, TaskStatus};
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{
    StateCount, Statistics, TaskCreated, TaskUpdate, ToolCallDecided, ToolCallStatus, ToolCount, Usage,
};
use crate::proto::task::task_event::Event;
use crate::proto::task::{StateChanged, TaskEvent};

/// In characters; a list has one line for it.
const TITLE: usize = 80;

/// What a client sees of one task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    pub task_id: String,
    /// Learned from the first event where it is not known before.
    pub context_id: String,
}

impl View {
    /// None for what is between the agent and the model.
    pub fn event(&mut self, event: &TaskEvent) -> Option<TaskUpdate> {
        let (mut model, mut error) = (String::new(), None);
        let update = match event.event.as_ref()? {
            Event::Created(created) => {
                self.context_id.clone_from(&created.context_id);
                Update::Created(TaskCreated {
                    settings: created.settings.clone(),
                    reference_task_ids: created.reference_task_ids.clone(),
                })
            }
            Event::State(change) => {
                error.clone_from(&change.error);
                Update::Status(status(change, event))
            }
            Event::Text(delta) => {
                model.clone_from(&delta.model);
                Update::Text(delta.text.clone())
            }
            Event::Thought(thought) => Update::Thought(thought.clone()),
            Event::ToolCall(call) => Update::ToolCall((**call).clone()),
            Event::ToolOutput(output) => Update::LiveOutput((**output).clone()),
            Event::Decision(decided) => Update::Decided(ToolCallDecided {
                tool_call_id: decided.tool_call_id.clone(),
                decision: decided.decision.clone(),
            }),
            Event::Artifact(delta) => {
                Update::Artifact(super::artifact(&self.task_id, &self.context_id, delta, None))
            }
            Event::Message(message) => Update::Message((**message).clone()),
            Event::Usage(usage) => Update::Usage((**usage).clone()),
            _ => return None,
        };
        Some(TaskUpdate {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            sequence: event.sequence,
            time: event.time,
            model,
            error,
            update: Some(update),
        })
    }
}

fn status(change: &StateChanged, event: &TaskEvent) -> TaskStatus {
    TaskStatus { state: change.state, message: change.message.clone(), timestamp: event.time }
}

/// The first line of what was asked for.
pub fn title(message: &Message) -> String {
    let text = message.text();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default().trim_end()),
    }
}

/// Counts what events tell, task by task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    tasks: i64,
    states: BTreeMap<i32, i64>,
    usage: BTreeMap<String, Usage>,
    tools: BTreeMap<String, ToolCount>,
}

impl Tally {
    pub fn task(&mut self, state: TaskState) {
        self.tasks += 1;
        *self.states.entry(state.into()).or_default() += 1;
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Usage(usage) => self.spent(usage),
            Event::ToolCall(call) => {
                let Some(count) = self.count(&call.tool_name, call.status()) else { return };
                *count += 1;
            }
            _ => {}
        }
    }

    fn spent(&mut self, usage: &Usage) {
        let sum = self.usage.entry(usage.model.clone()).or_default();
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        sum.thinking_tokens = sum.thinking_tokens.saturating_add(usage.thinking_tokens);
        sum.cached_tokens = sum.cached_tokens.saturating_add(usage.cached_tokens);
    }

    /// None as long as it goes on: a call is shown many times, and ends once.
    fn count(&mut self, tool: &str, status: ToolCallStatus) -> Option<&mut i64> {
        let of = |tally: fn(&mut ToolCount) -> &mut i64| tally;
        let place = match status {
            ToolCallStatus::Succeeded => of(|count| &mut count.succeeded),
            ToolCallStatus::Failed => of(|count| &mut count.failed),
            ToolCallStatus::Cancelled => of(|count| &mut count.cancelled),
            _ => return None,
        };
        Some(place(self.tools.entry(tool.to_owned()).or_default()))
    }

    /// By model.
    pub fn usage(self) -> Vec<Usage> {
        self.usage.into_iter().map(|(model, usage)| Usage { model, ..usage }).collect()
    }

    pub fn told(self, complete: bool) -> Statistics {
        let states = self.states.iter().map(|(state, tasks)| StateCount { state: *state, tasks: *tasks });
        let tools =
            self.tools.iter().map(|(name, count)| ToolCount { tool_name: name.clone(), ..count.clone() });
        let (states, tools) = (states.collect(), tools.collect());
        Statistics { tasks: self.tasks, states, tools, complete, usage: self.usage() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::a2a::Part;
    use crate::proto::devtool::ToolCall;
    use crate::proto::task::Created;

    #[test]
    fn an_update_names_its_context_from_the_first_event_on() {
        let mut view = View { task_id: "t".to_owned(), ..View::default() };
        let created = Created { context_id: "c".to_owned(), ..Created::default() };
        let events = [Event::Created(Box::new(created)), Event::Told(Default::default())];
        let mut told = events
            .into_iter()
            .zip(1..)
            .map(|(event, sequence)| view.event(&TaskEvent { sequence, time: None, event: Some(event) }));
        let first = told.next().flatten().unwrap();
        assert_eq!((first.context_id.as_str(), first.sequence), ("c", 1));
        assert_eq!(told.next(), Some(None));
    }

    #[test]
    fn a_title_is_one_short_line() {
        let long = "é".repeat(TITLE + 1);
        for (text, shown) in [
            ("", String::new()),
            ("\n  list files \nand more", "list files".to_owned()),
            (long.as_str(), format!("{}...", "é".repeat(TITLE))),
        ] {
            let message = Message { parts: vec![Part::text(text)], ..Message::default() };
            assert_eq!(title(&message), shown);
        }
    }

    #[test]
    fn a_call_counts_once_and_tokens_by_model() {
        let mut tally = Tally::default();
        tally.task(TaskState::Completed);
        for status in [ToolCallStatus::Pending, ToolCallStatus::Executing, ToolCallStatus::Failed] {
            let call = ToolCall { tool_name: "x".to_owned(), status: status.into(), ..ToolCall::default() };
            tally.event(&Event::ToolCall(Box::new(call)));
        }
        for model in ["a", "b", "a"] {
            let usage = Usage { model: model.to_owned(), input_tokens: 2, ..Usage::default() };
            tally.event(&Event::Usage(Box::new(usage)));
        }
        let told = tally.told(true);
        assert_eq!((told.tasks, told.tools[0].failed, told.tools[0].succeeded), (1, 1, 0));
        let usage: Vec<_> =
            told.usage.iter().map(|usage| (usage.model.as_str(), usage.input_tokens)).collect();
        assert_eq!(usage, [("a", 4), ("b", 2)]);
    }
}
