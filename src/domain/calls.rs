//! The tool calls of a task that have not ended, each as its last event showed it, with what it has printed. Folded
//! from the journal; snapshots and projections share it. Pure.

use crate::proto::devtool::{LiveOutput, ToolCall, ToolCallStatus};
use crate::proto::task::Decided;
use crate::proto::task::task_event::Event;

/// Of what a tool prints, the newest so many bytes are shown again with every update.
const SHOWN: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenCalls(Vec<Open>);

#[derive(Debug, Clone, PartialEq)]
struct Open {
    call: ToolCall,
    /// Where what is known of its output ends, in bytes.
    printed: u64,
}

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
        self.0.iter().map(|open| &open.call).find(|call| call.tool_call_id == tool_call_id)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order in which they began.
    pub fn iter(&self) -> impl Iterator<Item = &ToolCall> {
        self.0.iter().map(|open| &open.call)
    }

    /// Where what is known of a call's output ends, in bytes.
    pub fn printed(&self, tool_call_id: &str) -> u64 {
        let open = self.0.iter().find(|open| open.call.tool_call_id == tool_call_id);
        open.map_or(0, |open| open.printed)
    }

    /// What stands where bytes of an output were left out.
    pub fn gap(bytes: u64) -> String {
        format!("\n[... {bytes} bytes left out ...]\n")
    }

    /// Those that wait for an answer.
    pub fn asking(&self) -> impl Iterator<Item = &ToolCall> {
        self.0.iter().map(|open| &open.call).filter(|call| call.confirmation_request.is_some())
    }

    fn put(&mut self, call: &ToolCall) {
        let ended = matches!(
            call.status(),
            ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled
        );
        let at = self.0.iter().position(|known| known.call.tool_call_id == call.tool_call_id);
        match (at, ended) {
            (Some(at), true) => drop(self.0.remove(at)),
            (None, true) => {}
            (Some(at), false) => {
                let known = &mut self.0[at].call;
                *known = ToolCall { live_content: known.live_content.take(), ..call.clone() };
            }
            (None, false) => self.0.push(Open { call: call.clone(), printed: 0 }),
        }
    }

    fn print(&mut self, output: &LiveOutput) {
        let Some(open) = self.0.iter_mut().find(|open| open.call.tool_call_id == output.tool_call_id) else {
            return;
        };
        let shown = open.call.live_content.get_or_insert_default();
        if let Some(gap) = output.offset.checked_sub(open.printed).filter(|gap| *gap > 0) {
            shown.push_str(&Self::gap(gap));
        }
        open.printed = output.offset + output.text.len() as u64;
        shown.push_str(&output.text);
        if let Some(from) = shown.len().checked_sub(SHOWN).filter(|from| *from > 0) {
            let from = (from..shown.len()).find(|at| shown.is_char_boundary(*at)).unwrap_or_default();
            shown.drain(..from);
        }
    }

    fn decide(&mut self, decided: &Decided) {
        let known = self.0.iter_mut().map(|open| &mut open.call);
        if let Some(call) = known.into_iter().find(|call| call.tool_call_id == decided.tool_call_id) {
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

    fn print(offset: u64, text: &str) -> Event {
        let tool_call_id = "c".to_owned();
        Event::ToolOutput(Box::new(LiveOutput { tool_call_id, offset, text: text.to_owned() }))
    }

    #[test]
    fn a_call_keeps_what_it_printed_until_it_ends() {
        let mut calls = OpenCalls::default();
        let (pending, executing) = (call(ToolCallStatus::Pending), call(ToolCallStatus::Executing));
        for event in [pending, executing, print(0, "a"), print(1, "b")] {
            calls.fold(&event);
        }
        assert_eq!(calls.get("c").unwrap().live_content.as_deref(), Some("ab"));
        calls.fold(&print(9, "c"));
        let gap = "ab\n[... 7 bytes left out ...]\nc";
        assert_eq!(calls.get("c").unwrap().live_content.as_deref(), Some(gap));
        calls.fold(&print(10, &"é".repeat(SHOWN)));
        let shown = calls.get("c").unwrap().live_content.as_ref().unwrap();
        assert!(shown.len() <= SHOWN && shown.ends_with('é'));
        calls.fold(&call(ToolCallStatus::Succeeded));
        assert_eq!(calls, OpenCalls::default());
    }
}
