//! Acting: what starts a task, says something to it, answers what it asks, or ends it.

use sha2::{Digest, Sha256};

use super::DevTool;
use super::fault::{cannot_cancel, fault};
use crate::agent::call::Refusal;
use crate::agent::{EngineError, Further, NewTask, Repeat, Sent, Watch};
use crate::domain::confirmation::with_feedback;
use crate::domain::error::Error;
use crate::domain::principal::Principal;
use crate::domain::store::Head;
use crate::projection::devtool;
use crate::proto::a2a::{Message, Part, Role};
use crate::proto::devtool::{
    CancelTaskRequest, ConfirmToolCallRequest, ContinueTaskRequest, ContinueTaskResponse, StartTaskRequest,
    TaskSummary, ToolCall,
};
use crate::proto::task::task_event::Event;
use crate::service::limits;
use crate::service::undecided::undecided;

/// What came of a start.
pub(super) enum Started {
    /// Answered at once; there is no task.
    Reply(Message),
    Task(Watch),
}

impl DevTool {
    pub(super) async fn start(
        &self,
        who: &Principal,
        mut request: StartTaskRequest,
    ) -> Result<Started, Error> {
        limits::id("context_id", &request.context_id)?;
        limits::id("message_id", &request.message_id)?;
        limits::references("reference_task_ids", &request.reference_task_ids)?;
        name(&mut request.message_id);
        let repeat = self.repeat("start", &request);
        let StartTaskRequest { prompt, context_id, settings, message_id, reference_task_ids } = request;
        let new_context = context_id.is_empty();
        let context_id = if new_context { uuid::Uuid::now_v7().to_string() } else { context_id };
        let message = Message { context_id, message_id, reference_task_ids, ..said(prompt) };
        let new = NewTask {
            tenant: String::new(),
            message,
            repeat,
            new_context,
            settings,
            push: None,
            command: None,
            conversational: false,
        };
        let context_id = new.message.context_id.clone();
        Ok(match self.engine.begin(who, new).await.map_err(fault)? {
            Sent::Task { watch, .. } => Started::Task(watch),
            Sent::Reply(parts) => {
                let message_id = uuid::Uuid::now_v7().to_string();
                let role = Role::Agent.into();
                Started::Reply(Message { message_id, context_id, role, parts, ..Message::default() })
            }
        })
    }

    /// A task that has ended never changes: what is said to it begins another beside it that refers to it.
    pub(super) async fn go_on(
        &self,
        who: &Principal,
        mut request: ContinueTaskRequest,
    ) -> Result<ContinueTaskResponse, Error> {
        limits::id("message_id", &request.message_id)?;
        name(&mut request.message_id);
        let head = self.head(who, &request.task_id).await?;
        let context_id = head.context_id.clone();
        let (repeat, again) = (self.repeat("continue", &request), self.repeat("go on", &request));
        let message = Message {
            message_id: request.message_id,
            task_id: head.task_id.clone(),
            context_id: context_id.clone(),
            ..said(request.prompt)
        };
        let further = Further { message: message.clone(), repeat, decisions: Vec::new(), push: None };
        let sent = match self.engine.say(who, &head, further).await {
            Err(EngineError::Refused(_)) => {
                let (task_id, reference_task_ids) = (String::new(), vec![head.task_id]);
                let message = Message { task_id, reference_task_ids, ..message };
                let new = NewTask {
                    tenant: String::new(),
                    message,
                    repeat: again,
                    new_context: false,
                    settings: None,
                    push: None,
                    command: None,
                    conversational: false,
                };
                self.engine.begin(who, new).await
            }
            sent => sent,
        };
        let (task_id, sequence) = match sent.map_err(fault)? {
            Sent::Task { watch, sequence } => (watch.task_id().to_owned(), sequence),
            Sent::Reply(_) => (request.task_id, head.sequence),
        };
        Ok(ContinueTaskResponse { task_id, context_id, sequence })
    }

    /// The call after the answer, and the sequence of the message that gave it.
    pub(super) async fn confirm(
        &self,
        who: &Principal,
        mut request: ConfirmToolCallRequest,
    ) -> Result<(ToolCall, Head, u64), Error> {
        limits::id("message_id", &request.message_id)?;
        name(&mut request.message_id);
        let confirmation = request.confirmation.clone().unwrap_or_default();
        for (field, text) in [
            ("confirmation.tool_call_id", &confirmation.tool_call_id),
            ("confirmation.selected_option_id", &confirmation.selected_option_id),
        ] {
            if text.is_empty() {
                return Err(Error::field(field, "is required"));
            }
            limits::id(field, text)?;
        }
        let head = self.head(who, &request.task_id).await?;
        let repeat = self.repeat("confirm", &request);
        let tool_call_id = confirmation.tool_call_id.clone();
        let mut message = Message {
            message_id: request.message_id,
            task_id: head.task_id.clone(),
            context_id: head.context_id.clone(),
            role: Role::User.into(),
            parts: vec![devtool::data(&confirmation)],
            metadata: Some(devtool::confirmation()),
            ..Message::default()
        };
        with_feedback(&mut message, std::slice::from_ref(&confirmation));
        let further = Further { message, repeat, decisions: vec![(0, confirmation)], push: None };
        let sent = match self.engine.say(who, &head, further).await {
            Err(error) => return Err(self.too_late(who, &head, &tool_call_id, error).await),
            Ok(sent) => sent,
        };
        match sent {
            Sent::Task { watch, sequence } => {
                let call = answered(&watch, sequence, &tool_call_id).await?;
                Ok((call, head, sequence))
            }
            Sent::Reply(_) => Ok((ToolCall { tool_call_id, ..ToolCall::default() }, head, 0)),
        }
    }

    /// Of a call or a task that has ended, the journal says what was decided.
    async fn too_late(&self, who: &Principal, head: &Head, tool_call_id: &str, error: EngineError) -> Error {
        let over = match &error {
            EngineError::Refused(_) => true,
            EngineError::Decision { refusal, .. } => refusal.field() == "tool_call_id",
            _ => false,
        };
        if !over {
            return fault(error);
        }
        let events = match self.engine.store().events(who, &head.task_id, 0, usize::MAX).await {
            Ok(events) => events,
            Err(error) => return fault(error),
        };
        let decided = events.into_iter().find_map(|event| match event.event {
            Some(Event::Decision(decided)) if decided.tool_call_id == tool_call_id => decided.decision,
            _ => None,
        });
        match decided {
            Some(decision) => undecided("confirmation", &Refusal::AlreadyDecided(Box::new(decision))),
            None => fault(error),
        }
    }

    pub(super) async fn cancel(
        &self,
        who: &Principal,
        request: CancelTaskRequest,
    ) -> Result<TaskSummary, Error> {
        let head = self.head(who, &request.task_id).await?;
        self.engine.cancel(who, &head).await.map_err(cannot_cancel)?;
        let head = self.head(who, &request.task_id).await?;
        self.summary(who, &head).await
    }

    /// Everything that the client said, so that the same id with other words is another message.
    fn repeat(&self, what: &str, request: &impl prost::Message) -> Repeat {
        let hash = Sha256::new()
            .chain_update("agena.devtool.v1 ")
            .chain_update(what)
            .chain_update([0])
            .chain_update(request.encode_to_vec());
        Repeat { hash: hash.finalize().into(), window: self.repeat_window }
    }

    pub(super) async fn head(&self, who: &Principal, task_id: &str) -> Result<Head, Error> {
        let head = self.engine.store().head(who, task_id).await.map_err(fault)?;
        // What belongs to a tenant of A2A is not seen without its name.
        if head.tenant.is_empty() { Ok(head) } else { Err(super::fault::not_found()) }
    }
}

fn name(message_id: &mut String) {
    if message_id.is_empty() {
        *message_id = uuid::Uuid::now_v7().to_string();
    }
}

fn said(prompt: String) -> Message {
    Message { role: Role::User.into(), parts: vec![Part::text(prompt)], ..Message::default() }
}

/// The call as it was before the message, and then what was stored with it: the decision, and perhaps its end.
async fn answered(watch: &Watch, sequence: u64, tool_call_id: &str) -> Result<ToolCall, Error> {
    use futures::StreamExt;
    let before = watch.snapshot(Some(sequence)).await.map_err(fault)?;
    let mut call = before.calls.get(tool_call_id).cloned().unwrap_or_default();
    let stored = watch.events(sequence).next().await.transpose().map_err(fault)?.unwrap_or_default();
    for event in stored.iter().filter_map(|event| event.event.as_ref()) {
        match event {
            Event::ToolCall(now) if now.tool_call_id == tool_call_id => call = (**now).clone(),
            Event::Decision(decided) if decided.tool_call_id == tool_call_id => {
                call.confirmation_request = None;
                call.decision.clone_from(&decided.decision);
            }
            _ => {}
        }
    }
    Ok(call)
}
