//! One stream for an interactive client: its actions in, updates of all its tasks and what became of its actions out.
//! Nothing can be done here that cannot be done by a call of its own; what fails is told and ends nothing.

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, stream};
use prost::Message as _;
use tokio_stream::StreamMap;
use tonic::codegen::BoxStream;
use tonic::{Status, Streaming};

use super::DevTool;
use super::act::Started;
use super::fault::fault;
use super::follow::Updates;
use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::projection::typed::View;
use crate::proto::devtool::interact_request::Action;
use crate::proto::devtool::interact_response::Result as Outcome;
use crate::proto::devtool::task_update::Update;
use crate::proto::devtool::{ActionDone, InteractRequest, InteractResponse, TaskUpdate};
use crate::proto::rpc;
use crate::proto::schema::violations;
use crate::service::told::Until;

/// Tasks that one stream may follow.
const FOLLOWED: usize = 256;
/// Cancellations that may be under way.
const ASIDE: usize = 64;

/// What an action did.
#[derive(Default)]
struct Done {
    done: ActionDone,
    follow: Option<(String, Updates)>,
    unfollow: Option<String>,
    /// Of an answer without a task.
    update: Option<TaskUpdate>,
}

type Acting = BoxFuture<'static, (String, Result<Done, Error>)>;

struct Interaction {
    service: DevTool,
    who: Principal,
    /// None when the client has said all.
    actions: Option<Streaming<InteractRequest>>,
    /// One action at a time, in the order in which they came ...
    acting: Option<Acting>,
    /// ... but for those that take long.
    aside: FuturesUnordered<Acting>,
    followed: StreamMap<String, Updates>,
}

/// What happened first.
enum Happened {
    Said(Option<Box<Result<InteractRequest, Status>>>),
    Acted(String, Box<Result<Done, Error>>),
    Told(String, Box<Result<TaskUpdate, Status>>),
}

impl DevTool {
    pub(super) fn interact(
        &self,
        who: Principal,
        actions: Streaming<InteractRequest>,
    ) -> BoxStream<InteractResponse> {
        let interaction = Interaction {
            service: self.clone(),
            who,
            actions: Some(actions),
            acting: None,
            aside: FuturesUnordered::new(),
            followed: StreamMap::new(),
        };
        let told = stream::try_unfold(interaction, |mut interaction| async move {
            Ok(interaction.next().await?.map(|told| (told, interaction)))
        });
        told.boxed()
    }

    async fn perform(self, who: Principal, action: Action) -> Result<Done, Error> {
        match action {
            Action::Start(request) => match self.start(&who, request).await? {
                Started::Reply(message) => {
                    let context_id = message.context_id.clone();
                    let update = Some(Update::Message(message));
                    let update = Some(TaskUpdate { context_id, update, ..TaskUpdate::default() });
                    Ok(Done { update, ..Done::default() })
                }
                Started::Task(watch) => self.followed(&who, watch.task_id(), 0).await,
            },
            Action::Follow(request) => self.followed(&who, &request.task_id, request.after).await,
            Action::Confirm(request) => {
                let (call, head, sequence) = self.confirm(&who, request).await?;
                let (task_id, context_id) = (head.task_id, head.context_id);
                let done = ActionDone { task_id, context_id, sequence, tool_call: Some(call) };
                Ok(Done { done, ..Done::default() })
            }
            Action::ContinueTask(request) => {
                let named = request.task_id.clone();
                let sent = self.go_on(&who, request).await?;
                if sent.task_id != named {
                    return self.followed(&who, &sent.task_id, 0).await;
                }
                let (task_id, context_id, sequence) = (sent.task_id, sent.context_id, sent.sequence);
                let done = ActionDone { task_id, context_id, sequence, tool_call: None };
                Ok(Done { done, ..Done::default() })
            }
            Action::Cancel(request) => {
                let task = self.cancel(&who, request).await?;
                let (task_id, context_id, sequence) = (task.task_id, task.context_id, task.sequence);
                let done = ActionDone { task_id, context_id, sequence, tool_call: None };
                Ok(Done { done, ..Done::default() })
            }
            Action::Unfollow(request) => {
                let done = ActionDone { task_id: request.task_id.clone(), ..ActionDone::default() };
                Ok(Done { done, unfollow: Some(request.task_id), ..Done::default() })
            }
        }
    }

    async fn followed(&self, who: &Principal, task_id: &str, after: u64) -> Result<Done, Error> {
        let head = self.head(who, task_id).await?;
        if after > head.sequence {
            let last = head.sequence;
            let problem = format!("is beyond the last event of the task, {last}");
            return Err(Error::field("follow.after", problem));
        }
        let events = self.engine.watch(who, &head).events(after);
        let view = View { task_id: head.task_id.clone(), context_id: head.context_id.clone() };
        let follow = Some((head.task_id.clone(), Updates::new(events, view, Until::End, fault)));
        let (task_id, context_id, sequence) = (head.task_id, head.context_id, head.sequence);
        let done = ActionDone { task_id, context_id, sequence, tool_call: None };
        Ok(Done { done, follow, ..Done::default() })
    }
}

impl Interaction {
    /// None when the client has said all and everything that it follows has ended.
    async fn next(&mut self) -> Result<Option<InteractResponse>, Status> {
        loop {
            let Some(happened) = self.happens().await else { return Ok(None) };
            let told = match happened {
                Happened::Said(None) => {
                    self.actions = None;
                    None
                }
                Happened::Said(Some(request)) => self.take((*request)?),
                Happened::Acted(action_id, outcome) => Some(self.acted(action_id, *outcome)),
                Happened::Told(task_id, update) => Some(told(task_id, *update)),
            };
            if told.is_some() {
                return Ok(told);
            }
        }
    }

    async fn happens(&mut self) -> Option<Happened> {
        let hears = self.acting.is_none() && self.aside.len() < ASIDE;
        tokio::select! {
            Some((action_id, outcome)) = async { Some(self.acting.as_mut()?.await) } => {
                self.acting = None;
                Some(Happened::Acted(action_id, Box::new(outcome)))
            }
            Some((action_id, outcome)) = self.aside.next() => {
                Some(Happened::Acted(action_id, Box::new(outcome)))
            }
            Some((task_id, update)) = self.followed.next() => {
                Some(Happened::Told(task_id, Box::new(update)))
            }
            Some(said) = async { Some(self.actions.as_mut()?.next().await) }, if hears => {
                Some(Happened::Said(said.map(Box::new)))
            }
            // A server that stops hears no more; what is followed and worked on goes on.
            () = self.service.engine.closing().cancelled(), if self.actions.is_some() => {
                Some(Happened::Said(None))
            }
            else => None,
        }
    }

    /// Begins what is wanted; what cannot begin is told at once.
    fn take(&mut self, request: InteractRequest) -> Option<InteractResponse> {
        let found = violations(&request);
        let InteractRequest { action, action_id } = request;
        let problem = match &action {
            _ if !found.is_empty() => Some(Error::invalid(found)),
            None => Some(Error::field("action", "is required")),
            Some(Action::Start(_) | Action::Follow(_) | Action::ContinueTask(_))
                if self.followed.len() >= FOLLOWED =>
            {
                let problem =
                    format!("{FOLLOWED} tasks are followed here, which are the most; unfollow some");
                Some(Error::new(Cause::Busy, problem))
            }
            Some(_) => None,
        };
        if let Some(problem) = problem {
            return Some(failed(action_id, problem.into()));
        }
        let action = action?;
        let (long, who) = (matches!(action, Action::Cancel(_)), self.who.clone());
        let acting = self.service.clone().perform(who, action).map(|outcome| (action_id, outcome)).boxed();
        match long {
            true => self.aside.push(acting),
            false => self.acting = Some(acting),
        }
        None
    }

    fn acted(&mut self, action_id: String, outcome: Result<Done, Error>) -> InteractResponse {
        let Done { done, follow, unfollow, update } = match outcome {
            Err(error) => return failed(action_id, error.into()),
            Ok(done) => done,
        };
        if let Some(task_id) = unfollow {
            self.followed.remove(&task_id);
        }
        if let Some((task_id, updates)) = follow {
            self.followed.insert(task_id, updates);
        }
        InteractResponse { update, action_id, result: Some(Outcome::Done(done)) }
    }
}

/// A task that cannot be followed any further is told with its id.
fn told(task_id: String, update: Result<TaskUpdate, Status>) -> InteractResponse {
    match update {
        Ok(update) => InteractResponse { update: Some(update), ..InteractResponse::default() },
        Err(status) => {
            let update = Some(TaskUpdate { task_id, ..TaskUpdate::default() });
            InteractResponse { update, ..failed(String::new(), status) }
        }
    }
}

fn failed(action_id: String, status: Status) -> InteractResponse {
    let plain = || rpc::Status {
        code: status.code().into(),
        message: status.message().to_owned(),
        details: Vec::new(),
    };
    let error = rpc::Status::decode(status.details()).ok().filter(|_| !status.details().is_empty());
    let result = Some(Outcome::Error(error.unwrap_or_else(plain)));
    InteractResponse { update: None, action_id, result }
}
