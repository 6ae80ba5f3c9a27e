//! Sending: a message goes to its task or begins one, and the caller waits, or does not.

use futures::StreamExt;
use prost::Message as _;
use sha2::{Digest, Sha256};

use super::A2a;
use super::fault::{Wanted, fault, not_found};
use super::negotiate::Caller;
use super::{devtool, limits};
use crate::agent::{EngineError, Further, NewTask, Repeat, Sent, Watch};
use crate::domain::confirmation::is_confirmation;
use crate::domain::dialect::Dialect;
use crate::domain::error::{Cause, Error};
use crate::domain::extension::DEVELOPMENT_TOOL;
use crate::domain::snapshot::{Snapshot, shorten};
use crate::domain::store::{Head, Push, StoreError};
use crate::projection::push_state::{self, PUSH_STATE};
use crate::proto::a2a::part::Content;
use crate::proto::a2a::send_message_response::Payload;
use crate::proto::a2a::{Message, Part, Role, SendMessageRequest, SendMessageResponse, Task};
use crate::service::told;

impl A2a {
    pub(super) async fn send_and_wait(
        &self,
        caller: &Caller,
        request: SendMessageRequest,
    ) -> Result<SendMessageResponse, Error> {
        let configuration = request.configuration.clone().unwrap_or_default();
        let length = history_length(configuration.history_length, "configuration.historyLength")?;
        let payload = match self.send(caller, request).await? {
            Outcome::Reply(message) => Payload::Message(message),
            Outcome::Task { watch, sequence } => {
                let upto = if configuration.return_immediately {
                    Some(sequence)
                } else {
                    settle(&watch, sequence).await?;
                    None
                };
                Payload::Task(self.seen(caller, &watch, upto, length).await?)
            }
        };
        Ok(SendMessageResponse { payload: Some(payload) })
    }

    /// Checks a message and hands it to the agent.
    pub(super) async fn send(&self, caller: &Caller, request: SendMessageRequest) -> Result<Outcome, Error> {
        let mut message = request.message.unwrap_or_default();
        limits::message(&message)?;
        self.check(&message)?;
        let push = request.configuration.and_then(|c| c.task_push_notification_config);
        if let Some(config) = &push {
            self.pushes()?;
            self.check_push(config, "configuration.taskPushNotificationConfig.")?;
        }
        let push = push.map(|config| self.fresh_push(caller, config));
        if request.metadata.is_some() && message.metadata.is_none() {
            // Some clients put on the request what belongs to the message.
            message.metadata = request.metadata;
        }
        let context_id = message.context_id.clone();
        let sent = match message.task_id.as_str() {
            "" => {
                let coder = caller.sends_coder(&message);
                self.begin(caller, message, push, coder).await?
            }
            _ => self.go_on(caller, message, push).await?,
        };
        Ok(match sent {
            Sent::Reply(parts) => Outcome::Reply(reply(parts, context_id)),
            Sent::Task { watch, sequence } => Outcome::Task { watch, sequence },
        })
    }

    /// `conversational` is what clients of Gemini CLI's own server take a task for.
    async fn begin(
        &self,
        caller: &Caller,
        mut message: Message,
        push: Option<Push>,
        conversational: bool,
    ) -> Result<Sent, Error> {
        let repeat = self.repeat(caller, &message);
        let new_context = message.context_id.is_empty();
        if new_context {
            message.context_id = uuid::Uuid::now_v7().to_string();
        }
        if message.parts.iter().any(is_confirmation) {
            return Err(Error::field(
                "message.taskId",
                "is missing: a decision belongs to the task that asks",
            ));
        }
        let (tenant, settings) = (caller.tenant.clone(), devtool::settings(&message)?);
        let new =
            NewTask { tenant, message, repeat, new_context, settings, push, command: None, conversational };
        self.engine.begin(&caller.who, new).await.map_err(|e| fault(e, Wanted::Say))
    }

    async fn go_on(&self, caller: &Caller, mut message: Message, push: Option<Push>) -> Result<Sent, Error> {
        let head = self.head(caller, &message.task_id).await?;
        if message.context_id.is_empty() {
            message.context_id.clone_from(&head.context_id);
        }
        if message.context_id != head.context_id {
            return Err(Error::field("message.contextId", "is not the context of this task"));
        }
        let repeat = self.repeat(caller, &message);
        let decides = message.parts.iter().any(is_confirmation);
        if head.state.is_terminal() && !decides {
            let coder = caller.may_be_coder() && self.is_conversational(caller, &head).await?;
            if coder || caller.activates(DEVELOPMENT_TOOL) {
                return self.begin(caller, devtool::continued(message, &head), push, coder).await;
            }
        }
        let mut decisions = devtool::decisions(&mut message)?;
        self.fit(caller, &head, &message, &mut decisions).await?;
        let further = Further { message, repeat, decisions, push };
        self.engine.say(&caller.who, &head, further).await.map_err(|e| fault(e, Wanted::Say))
    }

    /// Everything that the client said, so that the same id with other words is another message.
    fn repeat(&self, caller: &Caller, message: &Message) -> Repeat {
        // No name of a tenant ends in the middle of it.
        let said = Sha256::new()
            .chain_update(&caller.tenant)
            .chain_update([0])
            .chain_update(message.encode_to_vec());
        Repeat { hash: said.finalize().into(), window: self.options.repeat_window }
    }

    pub(super) async fn head(&self, caller: &Caller, task_id: &str) -> Result<Head, Error> {
        let head = self.engine.store().head(&caller.who, task_id).await;
        let head = head.map_err(|e: StoreError| fault(e.into(), Wanted::Read))?;
        // Another tenant's task is as good as another principal's.
        if head.tenant == caller.tenant { Ok(head) } else { Err(not_found()) }
    }

    pub(super) async fn task(
        &self,
        caller: &Caller,
        task_id: &str,
        length: Option<usize>,
    ) -> Result<Task, Error> {
        let watch = self.engine.watch(&caller.who, &self.head(caller, task_id).await?);
        self.seen(caller, &watch, None, length).await
    }

    /// As it is at an event, or now.
    async fn seen(
        &self,
        caller: &Caller,
        watch: &Watch,
        upto: Option<u64>,
        length: Option<usize>,
    ) -> Result<Task, Error> {
        let snapshot = watch.snapshot(upto).await.map_err(|e| fault(e, Wanted::Read))?;
        self.shown(caller, snapshot, length).await.map_err(|e| fault(e, Wanted::Read))
    }

    /// As this client sees it.
    pub(super) async fn shown(
        &self,
        caller: &Caller,
        snapshot: Snapshot,
        length: Option<usize>,
    ) -> Result<Task, EngineError> {
        let view = self.view(caller, &snapshot);
        let mut task = snapshot.task;
        shorten(&mut task.history, length);
        view.mark(&mut task, snapshot.sequence);
        if caller.activates(PUSH_STATE) {
            let pushes = self.engine.store().pushes(&caller.who, &task.id).await?;
            push_state::mark(&mut task, &pushes);
        }
        Ok(task)
    }

    pub(super) async fn cancel(&self, caller: &Caller, task_id: &str) -> Result<Task, Error> {
        let head = self.head(caller, task_id).await?;
        self.engine.cancel(&caller.who, &head).await.map_err(|e| fault(e, Wanted::Cancel))?;
        self.task(caller, task_id, None).await
    }

    /// What the card does not take is refused before anything is stored.
    fn check(&self, message: &Message) -> Result<(), Error> {
        if message.role() != Role::User {
            return Err(Error::field("message.role", "must be ROLE_USER: agents do not send to agents here"));
        }
        for (index, part) in message.parts.iter().enumerate() {
            let field = || format!("message.parts[{index}]");
            let Some(media) = media_type(part) else { return Err(Error::field(field(), "has no content")) };
            if !self.card.default_input_modes.iter().any(|mode| mode == media) {
                let modes = self.card.default_input_modes.join(", ");
                let message = format!("{}: {media} is not taken; {modes} are", field());
                return Err(Error::new(Cause::ContentTypeNotSupported, message).with("mediaType", media));
            }
        }
        Ok(())
    }
}

/// Where a message went, in A2A's words.
pub(super) enum Outcome {
    Reply(Message),
    Task { watch: Watch, sequence: u64 },
}

/// Waits until the task ends or asks.
async fn settle(watch: &Watch, after: u64) -> Result<(), Error> {
    let mut events = watch.events(after);
    while let Some(next) = events.next().await {
        let next = next.map_err(|e| fault(e, Wanted::Read))?;
        if next.iter().any(|event| told::pauses(event.event.as_ref())) {
            break;
        }
    }
    Ok(())
}

fn reply(parts: Vec<Part>, context_id: String) -> Message {
    let context_id = if context_id.is_empty() { uuid::Uuid::now_v7().to_string() } else { context_id };
    let message_id = uuid::Uuid::now_v7().to_string();
    Message { message_id, context_id, role: Role::Agent.into(), parts, ..Message::default() }
}

/// Text counts as text/plain and data as JSON where the client does not say.
fn media_type(part: &Part) -> Option<&str> {
    let essence = part.media_type.split(';').next().unwrap_or_default().trim();
    match (&part.content, essence) {
        (None, _) => None,
        (Some(Content::Text(_)), "") => Some("text/plain"),
        (Some(Content::Data(_)), "") => Some("application/json"),
        (Some(_), "") => Some("application/octet-stream"),
        (Some(_), given) => Some(given),
    }
}

pub(super) fn history_length(length: Option<i32>, field: &str) -> Result<Option<usize>, Error> {
    let negative = |_| Error::field(field, "must not be negative");
    length.map(|length| usize::try_from(length).map_err(negative)).transpose()
}

/// Dialects differ in little else than words; this is one of the few places where they do.
pub(super) fn is_native(caller: &Caller) -> bool {
    caller.dialect == Dialect::V10
}
