//! A call as the journal remembers it. What was only on its way, such as a call that was free to start, is looked at
//! again; what the user was asked and answered stays. Pure; the turn reads a task back with it.

use super::{Calling, End, State, allows, wire};
use crate::domain::tool::Approval;
use crate::proto::devtool::{ConfirmationOption, ToolCall, ToolCallStatus};
use crate::proto::task::Decided;
use crate::proto::task::task_event::Event;

impl Calling {
    /// Takes one event of the journal, if it is about this call.
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::ToolCall(call) if call.tool_call_id == self.call.id => self.fold_call(call),
            Event::Decision(decided) if decided.tool_call_id == self.call.id => self.fold_decision(decided),
            Event::ToolOutput(output) if output.tool_call_id == self.call.id => {
                self.printed = output.offset + output.text.len() as u64;
            }
            _ => {}
        }
    }

    fn fold_call(&mut self, call: &ToolCall) {
        self.description.clone_from(&call.description);
        let decision = call.decision.clone();
        self.saved |= call.checkpoint_id.is_some();
        match (call.status(), &call.confirmation_request) {
            (ToolCallStatus::Pending, Some(request)) => {
                self.state = State::AwaitingApproval { request: request.clone() };
            }
            // It waits, decided or free; the decision has told already.
            (ToolCallStatus::Pending | ToolCallStatus::StatusUnspecified, _) => {}
            (ToolCallStatus::Executing, _) => self.state = State::Executing { decision, stopping: false },
            (ToolCallStatus::Succeeded, _) => self.state = State::Ended(End::Succeeded),
            (ToolCallStatus::Failed, _) => self.state = State::Ended(End::Failed),
            (ToolCallStatus::Cancelled, _) => self.state = State::Ended(End::Cancelled),
        }
    }

    fn fold_decision(&mut self, decided: &Decided) {
        let (State::AwaitingApproval { request }, Some(decision)) = (&self.state, &decided.decision) else {
            return;
        };
        let chosen = request.options.iter().find(|o| o.id == decision.selected_option_id);
        if !chosen.map(ConfirmationOption::kind).is_some_and(allows) {
            // The event that ends the call stands in the same commit.
            return;
        }
        let Some(details) = wire::changed(request.details.clone(), decided.new_content.clone()) else {
            return;
        };
        let approval = Approval { details, modified: decision.modified, answers: decision.answers.clone() };
        self.state = State::Scheduled { approval, decision: Some(decision.clone()) };
    }
}
