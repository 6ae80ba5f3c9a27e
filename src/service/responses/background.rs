//! Answers that go on without their callers: each is a task of its own that stores how far it is.

use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::sync::mpsc;
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use super::desk::Desk;
use super::running::Run;
use super::{Responses, Whole, now};
use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::facade::Asked;
use crate::facade::openai::responses::{Answer, Told, convert, failed, shown};
use crate::proto::openai::{CreateResponseRequest, Item, Response, ResponseEvent};
use crate::service::facade::Drive;

type Heard = Result<ResponseEvent, Status>;

/// So many events are held for a listener; one that does not take them is let go, and finds the answer in the store.
const HELD: usize = 1024;
/// A run takes a while.
const AGAIN: Duration = Duration::from_secs(10);
/// So many runs a principal may have at once.
const RUNS: usize = 64;

/// All that a run needs.
struct Job {
    drive: Drive,
    desk: Desk,
    who: Principal,
    id: String,
    request: Request<CreateResponseRequest>,
    input: Vec<Item>,
    earlier: Vec<Item>,
    response: Response,
    events: mpsc::Sender<Heard>,
}

/// A run that has begun.
pub(super) struct Launched<S> {
    /// What became of the request.
    pub(super) metadata: MetadataMap,
    pub(super) response: Response,
    pub(super) heard: S,
}

impl Responses {
    /// Starts it. What is wrong with the request is told at once. Nobody need listen to its events.
    pub(super) async fn launch(
        &self,
        whole: Whole,
    ) -> Result<Launched<impl Stream<Item = Heard> + Send + 'static>, Status> {
        let Whole { request, who, input, earlier } = whole;
        self.drive.guard.has_room(&who)?;
        if self.running.count(&who) >= RUNS {
            let words = format!("{RUNS} answers run in the background already; wait for one of them");
            return Err(Error::new(Cause::RateLimited, words).retry_after(AGAIN).into());
        }
        let (metadata, extensions, message) = request.into_parts();
        let checked = Request::from_parts(metadata.clone(), extensions.clone(), message.clone());
        let preview =
            self.drive.preview(checked, |request, asked| convert(request, earlier.clone(), asked)).await?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let asked = Asked { id: &id, now: now(), version: "" };
        let mut response = convert(message.clone(), earlier.clone(), &asked)?.reply.opening();
        response.status = "queued".to_owned();
        self.desk.put(&who, response.clone(), input.clone()).await?;
        let run = self.running.begin(&who, &response.id);
        let (events, heard) = mpsc::channel(HELD);
        let job = Job {
            drive: self.drive.clone(),
            desk: self.desk.clone(),
            who,
            id,
            request: Request::from_parts(metadata, extensions, message),
            input,
            earlier,
            response: response.clone(),
            events,
        };
        tokio::spawn(job.run(run));
        let heard = futures::stream::unfold(heard, |mut heard| async move {
            heard.recv().await.map(|event| (event, heard))
        });
        Ok(Launched { metadata: preview.metadata().clone(), response: shown(response, &[]), heard })
    }
}

impl Job {
    async fn run(mut self, mut run: Run) {
        self.response.status = "in_progress".to_owned();
        self.store(self.response.clone()).await;
        let (who, input, desk) = (self.who.clone(), self.input.clone(), self.desk.clone());
        let mut response = self.response.clone();
        let events = self.events.clone();
        // Whoever wins, the other is dropped, and the model with it.
        let ended = tokio::select! {
            _ = &mut run.stopped => None,
            worked = self.work() => Some(worked),
        };
        match ended {
            Some(Ok(())) => return,
            Some(Err(status)) => {
                response.status = "failed".to_owned();
                response.error = Some(failed(&status));
                // Nobody may listen any more.
                let _ = events.try_send(Err(status));
            }
            None => response.status = "cancelled".to_owned(),
        }
        store(&desk, &who, response, input).await;
        drop(run);
    }

    async fn work(self) -> Result<(), Status> {
        let Self { drive, desk, who, id, request, input, earlier, response, events } = self;
        let created = response.created_at;
        let answer = drive
            .stream::<_, Answer>(request, |request, asked| {
                convert(request, earlier, &Asked { id: &id, now: created, version: asked.version })
            })
            .await?;
        let (mut told, mut events) = (answer.into_inner(), Some(events));
        while let Some(event) = told.next().await {
            let Told { told, keep } = event?;
            if let Some(full) = keep {
                desk.put(&who, *full, input.clone()).await?;
            }
            // Nobody may listen any more, or not fast enough.
            events = events.filter(|events| events.try_send(Ok(told)).is_ok());
        }
        Ok(())
    }

    async fn store(&self, response: Response) {
        store(&self.desk, &self.who, response, self.input.clone()).await;
    }
}

async fn store(desk: &Desk, who: &Principal, response: Response, input: Vec<Item>) {
    let id = response.id.clone();
    if let Err(error) = desk.put(who, response, input).await {
        tracing::warn!(%error, id, "an answer in the background cannot be stored");
    }
}
