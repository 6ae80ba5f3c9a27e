//! What a call looks like to others: the RFC's ToolCall at each state, and the answer that the model reads. Pure.

use prost::Message as _;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Calling, End, State};
use crate::domain::tool::{Call, Outcome};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::tool_call::Result as CallResult;
use crate::proto::devtool::{
    ConfirmationRequest, Decision, ErrorDetails, LiveOutput, ToolCall, ToolCallStatus, ToolOutput,
};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{FunctionResponse, Part};
use crate::proto::task::task_event::Event;
use crate::proto::task::{Decided, ToolAnswered};
use crate::proto::wkt::Struct;

impl Calling {
    /// The whole call as it stands. One that has ended is shown by `ended`, which knows the result.
    pub(super) fn shown(&self) -> Event {
        let (status, request, decision) = match &self.state {
            State::Validating => (ToolCallStatus::Pending, None, None),
            State::AwaitingApproval { request } => (ToolCallStatus::Pending, Some(request.clone()), None),
            State::Scheduled { decision, .. } => (ToolCallStatus::Pending, None, decision.clone()),
            State::Executing { decision, .. } => (ToolCallStatus::Executing, None, decision.clone()),
            State::Ended(end) => (end.status(), None, None),
        };
        let confirmation_request = request;
        Event::ToolCall(Box::new(ToolCall { confirmation_request, decision, ..self.base(status) }))
    }

    /// In words for the user.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or(&self.call.tool)
    }

    /// An approved call that has to wait: what was decided is shown, so that every client sees it.
    pub fn waits(&self) -> Option<Event> {
        matches!(self.state, State::Scheduled { decision: Some(_), .. }).then(|| self.shown())
    }

    pub(super) fn ended(
        &self,
        end: End,
        error: Option<ErrorDetails>,
        output: Option<ToolOutput>,
        decision: Option<Decision>,
        live_content: Option<String>,
    ) -> Event {
        let result = error.map(CallResult::Error).or_else(|| output.map(CallResult::Output));
        let live_content = live_content.filter(|text| !text.is_empty());
        let call = ToolCall { result, decision, live_content, ..self.base(end.status()) };
        Event::ToolCall(Box::new(call))
    }

    fn base(&self, status: ToolCallStatus) -> ToolCall {
        let arguments = serde_json::Value::Object(self.call.arguments.clone());
        ToolCall {
            tool_call_id: self.call.id.clone(),
            status: status.into(),
            tool_name: self.call.tool.clone(),
            description: self.description.clone(),
            input_parameters: Struct::deserialize(arguments).ok(),
            checkpoint_id: self.saved.then(|| self.call.id.clone()),
            ..ToolCall::default()
        }
    }

    pub(super) fn answered(&self, outcome: Outcome) -> Event {
        self.response(&json!({"output": outcome.told}), outcome.media)
    }

    pub(super) fn answered_failed(&self, message: &str) -> Event {
        self.response(&json!({"error": message}), Vec::new())
    }

    /// The words of the user reach the model as they are.
    pub(super) fn answered_cancelled(&self, why: &str, reason: Option<&str>, so_far: &str) -> Event {
        let said = reason.map(|reason| format!(" The user said: {reason}")).unwrap_or_default();
        let mut response = json!({"error": format!("[Operation Cancelled] Reason: {why}.{said}")});
        if !so_far.is_empty() {
            response["output"] = so_far.into();
        }
        self.response(&response, Vec::new())
    }

    fn response(&self, response: &serde_json::Value, parts: Vec<Part>) -> Event {
        let answer = FunctionResponse {
            id: self.model_id.clone(),
            name: self.call.tool.clone(),
            response: response.to_string(),
            parts,
        };
        let part = Part { data: Some(Data::FunctionResponse(answer)), ..Part::default() };
        Event::ToolAnswer(ToolAnswered { tool_call_id: self.call.id.clone(), parts: vec![part] })
    }
}

impl End {
    fn status(self) -> ToolCallStatus {
        match self {
            Self::Succeeded => ToolCallStatus::Succeeded,
            Self::Failed => ToolCallStatus::Failed,
            Self::Cancelled => ToolCallStatus::Cancelled,
        }
    }
}

/// Stands for the tool, its arguments and all that is shown of it.
pub(super) fn fingerprint(call: &Call, details: &Details) -> String {
    let arguments = serde_json::Value::Object(call.arguments.clone()).to_string();
    let shown = ConfirmationRequest { details: Some(details.clone()), ..ConfirmationRequest::default() };
    let mut hash = Sha256::new();
    for part in [call.tool.as_bytes(), arguments.as_bytes(), &shown.encode_to_vec()] {
        // With their lengths, so that nothing can move from one to the next.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The details with the user's content in them; none if there is no content to change.
pub(super) fn changed(details: Option<Details>, content: Option<String>) -> Option<Option<Details>> {
    match (details, content) {
        (details, None) => Some(details),
        (Some(Details::FileEditDetails(mut diff)), Some(content)) => {
            diff.new_content = content;
            diff.formatted_diff = None;
            Some(Some(Details::FileEditDetails(diff)))
        }
        (_, Some(_)) => None,
    }
}

pub(super) fn decided(
    call: &Call,
    request: &ConfirmationRequest,
    decision: &Decision,
    new_content: Option<String>,
    message_id: String,
) -> Event {
    Event::Decision(Box::new(Decided {
        tool_call_id: call.id.clone(),
        decision: Some(decision.clone()),
        fingerprint: request.fingerprint.clone().into_bytes().into(),
        new_content,
        message_id,
    }))
}

pub(super) fn printed(tool_call_id: &str, offset: u64, text: &str) -> Event {
    let (tool_call_id, text) = (tool_call_id.to_owned(), text.to_owned());
    Event::ToolOutput(Box::new(LiveOutput { tool_call_id, offset, text }))
}

pub(super) fn error(kind: &str, message: String, status_code: Option<i32>) -> ErrorDetails {
    ErrorDetails { message, r#type: Some(kind.to_owned()), status_code }
}

pub(super) fn cancelled(why: &str) -> ErrorDetails {
    error("cancelled", why.to_owned(), None)
}
