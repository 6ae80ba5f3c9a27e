//! Answering what tool calls ask: by the user, or by what was said on the command line. Whatever is answered names the
//! fingerprint of what was shown.

use tonic::Status;

use super::answer::{of_kind, rejects};
use super::ask::Told;
use super::turn::{Answers, Ended, Part, Teller, Turn};
use crate::cli::exit::Stop;
use crate::cli::link::cut::patiently;
use crate::cli::link::stop;
use crate::cli::show::paint::Ink;
use crate::cli::show::request::questions;
use crate::cli::show::safe::safe_line;
use crate::domain::error::{Cause, Wire, details};
use crate::proto::a2a::TaskStatus;
use crate::proto::devtool::{
    ConfirmToolCallRequest, ConfirmationOption, ConfirmationOptionKind, GetTaskRequest, GetTaskResponse,
    ToolCall, ToolCallConfirmation,
};
use crate::proto::rpc::ErrorInfo;
use crate::proto::wkt::Any;

/// What the model hears when nobody is there to allow anything.
const NOBODY: &str = "Nobody is there to allow it.";

/// What came of asking.
pub(super) enum Asked {
    /// Something has changed; look again.
    Again,
    /// The task goes on.
    GoOn,
    End(Ended),
    Interrupted,
}

impl Turn<'_> {
    /// Answers every call that asks now, as far as it was shown. What was not is still to come, and then asks again.
    pub(super) async fn answer_all(&mut self, status: &TaskStatus) -> Result<Asked, Stop> {
        let task = self.now().await?;
        let waiting: Vec<ToolCall> =
            task.open_tool_calls.into_iter().filter(|call| call.confirmation_request.is_some()).collect();
        if waiting.is_empty() {
            let still =
                task.status.is_some_and(|now| now.timestamp == status.timestamp && now.state == status.state);
            let over = still && self.part == Part::Owner;
            if over && matches!(self.answers, Answers::Nobody) {
                let context = &self.follower.context_id;
                let line =
                    format!("it waits for an answer in words; give it with: agena chat --context {context}");
                self.note(Ink::Yellow, &line)?;
            }
            return Ok(if over { Asked::End(Ended::Waits) } else { Asked::GoOn });
        }
        let shown = |call: &ToolCall| {
            let request = call.confirmation_request.as_ref();
            request.is_some_and(|request| self.progress.shown.contains(&request.fingerprint))
        };
        let waiting: Vec<ToolCall> = waiting.into_iter().filter(shown).collect();
        for call in waiting {
            match self.answer(&call).await? {
                Asked::GoOn => {}
                other => return Ok(other),
            }
        }
        Ok(Asked::GoOn)
    }

    async fn now(&mut self) -> Result<GetTaskResponse, Stop> {
        let (client, task_id) = (&self.client, &self.follower.task_id);
        let asked = patiently(|| {
            let (mut client, task_id) = (client.clone(), task_id.clone());
            async move { client.get_task(GetTaskRequest { task_id }).await }
        });
        asked.await.map(tonic::Response::into_inner).map_err(|status| stop(&status))
    }

    async fn answer(&mut self, call: &ToolCall) -> Result<Asked, Stop> {
        let told = match self.answers {
            Answers::User => self.ask(call).await?,
            Answers::Once => only(call, ConfirmationOptionKind::AllowOnce),
            Answers::Never => only(call, ConfirmationOptionKind::RejectOnce),
            Answers::Nobody => Told::Nothing,
            Answers::Others => return Ok(Asked::GoOn),
        };
        match told {
            Told::Answer(confirmation) => self.confirm(*confirmation).await,
            Told::Elsewhere => Ok(Asked::GoOn),
            Told::Interrupted => Ok(Asked::Interrupted),
            Told::Left => {
                self.where_to_answer("the task waits for an answer")?;
                Ok(Asked::End(Ended::Left))
            }
            Told::Nothing => {
                let what = format!(
                    "{} waits for an answer, and nobody is here to give it",
                    safe_line(&call.tool_name)
                );
                self.where_to_answer(&what)?;
                Ok(Asked::End(Ended::Unanswered))
            }
        }
    }

    fn where_to_answer(&mut self, what: &str) -> Result<(), Stop> {
        let line = format!("{what}; answer it with: agena watch {}", self.follower.task_id);
        self.note(Ink::Yellow, &line)
    }

    async fn confirm(&mut self, confirmation: ToolCallConfirmation) -> Result<Asked, Stop> {
        if let Teller::Text(story) = &mut self.teller {
            story.answered(&confirmation.tool_call_id);
        }
        let request = ConfirmToolCallRequest {
            task_id: self.follower.task_id.clone(),
            confirmation: Some(confirmation),
            message_id: uuid::Uuid::now_v7().to_string(),
        };
        let client = &self.client;
        let sent = patiently(|| {
            let (mut client, request) = (client.clone(), request.clone());
            async move { client.confirm_tool_call(request).await }
        });
        let Err(status) = sent.await else { return Ok(Asked::GoOn) };
        match (Wire::of(&status).cause, self.answers) {
            (Cause::AlreadyDecided, _) => {
                self.note(Ink::Yellow, &too_late(&status))?;
                Ok(Asked::GoOn)
            }
            // It is no longer what was asked, or was not answered as it must be: the server says what is.
            (Cause::InvalidArgument | Cause::UnsupportedOperation, Answers::User) => {
                self.note(Ink::Red, &safe_line(status.message()))?;
                Ok(Asked::Again)
            }
            _ => Err(stop(&status)),
        }
    }
}

/// The one option that means it. Questions are for people.
fn only(call: &ToolCall, kind: ConfirmationOptionKind) -> Told {
    let options =
        call.confirmation_request.as_ref().map(|request| request.options.as_slice()).unwrap_or_default();
    match of_kind(options, kind) {
        Some(option) if rejects(option) => {
            let reason = Some(NOBODY.to_owned());
            Told::Answer(Box::new(ToolCallConfirmation { reject_reason: reason, ..chosen(call, option) }))
        }
        Some(option) if questions(call).is_empty() => Told::Answer(Box::new(chosen(call, option))),
        _ => Told::Nothing,
    }
}

/// The answer that names an option, and what was shown.
pub(super) fn chosen(call: &ToolCall, option: &ConfirmationOption) -> ToolCallConfirmation {
    let request = call.confirmation_request.as_ref();
    ToolCallConfirmation {
        tool_call_id: call.tool_call_id.clone(),
        selected_option_id: option.id.clone(),
        fingerprint: request.map(|request| request.fingerprint.clone()).filter(|print| !print.is_empty()),
        ..ToolCallConfirmation::default()
    }
}

fn too_late(status: &Status) -> String {
    let info = details(status).and_then(|details| details.details.iter().find_map(Any::unpack::<ErrorInfo>));
    let metadata = info.map(|info| info.metadata).unwrap_or_default();
    let word = |name: &str| metadata.get(name).map_or_else(|| "somebody".to_owned(), |word| safe_line(word));
    format!("somebody else answered first: {} chose {}", word("decidedBy"), word("selectedOptionId"))
}
