//! Thinking: the model is asked, what it says is shown as it comes, and what it wants is done next. A turn ends when it
//! wants nothing more.

use futures::StreamExt;

use super::reply::{Finish, Reply};
use super::runner::{Command, Failed, Next, Runner, begun, ready};
use super::script::Writer;
use super::work::Pace;
use super::{compress, prompt};
use crate::domain::model::{Chunks, ModelCause, ModelError};
use crate::proto::a2a::{Message, TaskState};
use crate::proto::gemini::GenerateContentResponse;
use crate::proto::task::Summarized;
use crate::proto::task::task_event::Event;

/// What wakes a task that thinks.
enum Woken {
    Told(Command),
    /// What is ready together is stored together; nothing at the end.
    Chunks(Vec<Result<GenerateContentResponse, ModelError>>),
}

/// How one answer of the model came to its end.
enum Ended {
    /// Cut off from outside: the task has ended.
    Task,
    Answer(Reply),
    Error(Reply, ModelError),
}

impl Runner {
    /// A turn on the model begins: what was said goes to it.
    pub(super) async fn begin_turn(&mut self, messages: &[Message], brought: String) -> Result<Next, Failed> {
        self.session().await?;
        let mut events = vec![begun(messages, false, brought)];
        if self.machine.state() != TaskState::Working {
            events.push(Writer::state(TaskState::Working));
        }
        self.record(events).await?;
        if !self.session().await?.work.thinks() {
            // Nothing was said that a model could answer.
            let rest = self.rest().await?;
            self.record(vec![Writer::state(rest)]).await?;
        }
        Ok(Next::Go)
    }

    pub(super) async fn think(&mut self) -> Result<Next, Failed> {
        let most = self.shared.mind.options.max_answers;
        match self.session().await?.work.pace(most) {
            Pace::Fine => {}
            Pace::Nudge => drop(self.record(vec![Event::Told(prompt::circles())]).await?),
            Pace::Pause(why) => {
                let asks = self.writer().asks(why);
                self.record(vec![asks]).await?;
                return Ok(Next::Go);
            }
        }
        self.shorten(false).await?;
        if self.machine.state().is_terminal() {
            return Ok(Next::Go);
        }
        let model = self.shared.mind.options.model.clone();
        let request = self.session().await?.request(&model).await;
        let chunks = self.shared.mind.backend.stream(request);
        match self.listen(chunks).await? {
            Ended::Task => {}
            Ended::Answer(reply) => self.conclude(reply).await?,
            Ended::Error(reply, error) => self.stumble(reply, &error).await?,
        }
        Ok(Next::Go)
    }

    async fn listen(&mut self, chunks: Chunks) -> Result<Ended, Failed> {
        let mut chunks = chunks.fuse();
        let mut reply = Reply::new(uuid::Uuid::now_v7().to_string());
        loop {
            let woken = tokio::select! {
                biased;
                Some(command) = self.inbox.recv() => Woken::Told(command),
                ready = ready(&mut chunks) => Woken::Chunks(ready),
            };
            match woken {
                Woken::Told(command) => {
                    self.obey(command).await;
                    if self.machine.state().is_terminal() {
                        return Ok(Ended::Task);
                    }
                }
                Woken::Chunks(ready) if ready.is_empty() => return Ok(Ended::Answer(reply)),
                Woken::Chunks(ready) => {
                    let (mut events, mut failed) = (Vec::new(), None);
                    for chunk in ready {
                        match chunk {
                            Ok(chunk) => events.extend(reply.push(chunk)),
                            Err(error) => failed = failed.or(Some(error)),
                        }
                    }
                    if !events.is_empty() {
                        self.record(events).await?;
                    }
                    if let Some(error) = failed {
                        return Ok(Ended::Error(reply, error));
                    }
                }
            }
        }
    }

    /// What was said enters the history, and the turn goes on with calls or ends.
    async fn conclude(&mut self, reply: Reply) -> Result<(), Failed> {
        let said = self.writer().said(reply.message_id(), reply.text());
        let (mut events, finish) = reply.finish();
        events.extend(said);
        let rest = self.rest().await?;
        if !matches!(finish, Finish::Calls) {
            events.extend(self.made());
        }
        match finish {
            Finish::Calls => {}
            Finish::Said if !self.said.is_empty() => {}
            Finish::Said => events.push(Writer::state(rest)),
            Finish::Unusable(why) => events.push(self.writer().failed(&why, "model_answer_unusable")),
        }
        if !events.is_empty() {
            self.record(events).await?;
        }
        Ok(())
    }

    /// The conversation stays as it was: whoever goes on in the context goes on from there.
    async fn stumble(&mut self, reply: Reply, error: &ModelError) -> Result<(), Failed> {
        let nothing_said = reply.text().is_empty();
        if error.cause == ModelCause::TooLong && nothing_said && self.shorten(true).await? {
            return Ok(());
        }
        tracing::warn!(task = self.owner.task_id, %error, "the model failed");
        let writer = self.writer();
        let mut events: Vec<Event> = writer.said(reply.message_id(), reply.text()).into_iter().collect();
        events.extend(self.made());
        events.push(writer.failed(&error.message, kind(error.cause)));
        self.record(events).await?;
        Ok(())
    }

    /// All text of an answer; none if it failed, or if the task was ended meanwhile.
    async fn gather(&mut self, mut chunks: Chunks) -> Result<Option<String>, Failed> {
        let mut reply = Reply::default();
        loop {
            tokio::select! {
                biased;
                Some(command) = self.inbox.recv() => {
                    self.obey(command).await;
                    if self.machine.state().is_terminal() {
                        return Ok(None);
                    }
                }
                chunk = chunks.next() => match chunk {
                    Some(Ok(chunk)) => drop(reply.push(chunk)),
                    Some(Err(_)) => return Ok(None),
                    None => return Ok(Some(reply.text().to_owned())),
                },
            }
        }
    }

    /// Makes the conversation shorter when it is long, or in any case. Tells whether it did.
    pub(super) async fn shorten(&mut self, in_any_case: bool) -> Result<bool, Failed> {
        let options = &self.shared.mind.options;
        let (model, limit) = (options.model.clone(), options.compress_at);
        let backend = self.shared.mind.backend.clone();
        let session = self.session().await?;
        let contents = session.work.conversation.contents();
        let tokens = session.work.tokens().max(compress::tokens(&contents));
        if !in_any_case && tokens < limit {
            return Ok(false);
        }
        let Some((old, kept)) = compress::split(&contents) else { return Ok(false) };
        let asked = prompt::summarize(session.model(&model), old.to_vec());
        let chunks = backend.stream(asked);
        let (old, kept) = (old.to_vec(), kept.to_vec());
        let summary = self.gather(chunks).await?;
        if self.machine.state().is_terminal() {
            return Ok(false);
        }
        let Some(contents) = summary.and_then(|summary| compress::shortened(&summary, &old, &kept)) else {
            tracing::warn!(
                task = self.owner.task_id,
                tokens,
                "a long conversation could not be made shorter"
            );
            return Ok(false);
        };
        self.record(vec![Event::Summary(Summarized { contents })]).await?;
        Ok(true)
    }
}

fn kind(cause: ModelCause) -> &'static str {
    match cause {
        ModelCause::Invalid => "model_request_invalid",
        ModelCause::TooLong => "model_context_overflow",
        ModelCause::Denied | ModelCause::Forbidden => "model_access_denied",
        ModelCause::NotFound => "model_not_found",
        ModelCause::Unsupported => "model_not_capable",
        ModelCause::Limited => "model_rate_limited",
        ModelCause::Exhausted => "model_quota_exhausted",
        ModelCause::Unavailable | ModelCause::Failed => "model_unavailable",
        ModelCause::Broken => "model_answer_broken",
    }
}
