//! The tool calls of a task that have not ended, each as its last event showed it, with what it has printed. Folded
//! from the journal; snapshots and projections share it. Pure.

use crate::proto::devtool::{LiveOutput, ToolCall, ToolCallStatus};
use crate::proto::task::Decided;
use crate::proto::task::task_event::Event;

/// Of what a tool prints, the newest so many bytes are shown again with every update.
const SHOWN: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenCalls(Vec<ToolCall>);

impl OpenCalls {
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::ToolCall(call) => self.put(call),
            Event::ToolOutput(output) => self.print(output),
            Event::Decision(decided) => self.decide(decided),
            _ => {}
        }
    }

    pub fn get(&self, tool_call_id: &str) -> Option<&ToolCall> {
        self.0.iter().find(|call| call.tool_call_id == tool_call_id)
    }

    /// Those that wait for an answer.
    pub fn asking(&self) -> impl Iterator<Item = &ToolCall> {
        self.0.iter().filter(|call| call.confirmation_request.is_some())
    }

    fn put(&mut self, call: &ToolCall) {
        let ended = matches!(
            call.status(),
            ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled
        );
        let at = self.0.iter().position(|known| known.tool_call_id == call.tool_call_id);
        match (at, ended) {
            (Some(at), true) => drop(self.0.remove(at)),
            (None, true) => {}
            (Some(at), false) => {
                let printed = self.0[at].live_content.take();
                self.0[at] = ToolCall { live_content: printed, ..call.clone() };
            }
            (None, false) => self.0.push(call.clone()),
        }
    }

    fn print(&mut self, output: &LiveOutput) {
        let Some(call) = self.0.iter_mut().find(|call| call.tool_call_id == output.tool_call_id) else {
            return;
        };
        let shown = call.live_content.get_or_insert_default();
        shown.push_str(&output.text);
        if let Some(from) = shown.len().checked_sub(SHOWN).filter(|from| *from > 0) {
            let from = (from..shown.len()).find(|at| shown.is_char_boundary(*at)).unwrap_or_default();
            shown.drain(..from);
        }
    }

    fn decide(&mut self, decided: &Decided) {
        if let Some(call) = self.0.iter_mut().find(|call| call.tool_call_id == decided.tool_call_id) {
            call.confirmation_request = None;
            call.decision.clone_from(&decided.decision);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(status: ToolCallStatus) -> Event {
        let tool_call_id = "c".to_owned();
        Event::ToolCall(Box::new(ToolCall { tool_call_id, status: status.into(), ..ToolCall::default() }))
    }

    fn print(text: &str) -> Event {
        let tool_call_id = "c".to_owned();
        Event::ToolOutput(Box::new(LiveOutput { tool_call_id, offset: 0, text: text.to_owned() }))
    }

    #[test]
    fn a_call_keeps_what_it_printed_until_it_ends() {
        let mut calls = OpenCalls::default();
        for event in [call(ToolCallStatus::Pending), call(ToolCallStatus::Executing), print("a"), print("b")]
        {
            calls.fold(&event);
        }
        assert_eq!(calls.get("c").unwrap().live_content.as_deref(), Some("ab"));
        calls.fold(&print(&"é".repeat(SHOWN)));
        let shown = calls.get("c").unwrap().live_content.as_ref().unwrap();
        assert!(shown.len() <= SHOWN && shown.ends_with('é'));
        calls.fold(&call(ToolCallStatus::Succeeded));
        assert_eq!(calls, OpenCalls::default());
    }
}
