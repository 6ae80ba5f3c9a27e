//! Facades over a model: what a client asks in its own dialect is turned into the hub's words, asked, and turned back. All
//! dialects go this one way; the services of each only name their conversion. Knows no HTTP and no vendor.

mod answering;
mod arguments;
mod asks;
mod calls;
mod fault;
pub mod guard;
pub mod ledger;
pub mod media;
mod ready;
mod size;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::timeout;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use self::answering::Answering;
use self::calls::Ids;
pub use self::fault::fault;
use self::guard::Guard;
use self::ledger::Ledger;
use self::media::Media;
use self::ready::{Open, Ready};
use crate::domain::error::Error;
use crate::domain::model::Backend;
use crate::facade::{Asked, Converted, Reply};
use crate::proto::facade::{Change, Preview};

/// An error before the first chunk can still be an answer of its own; a client that hears nothing for longer gives up.
const FIRST: Duration = Duration::from_secs(10);

/// What every facade is driven with.
#[derive(Clone)]
pub struct Drive {
    pub backend: Arc<dyn Backend>,
    pub guard: Arc<Guard>,
    pub ledger: Ledger,
    pub media: Media,
    /// Refuses what a conversion would change, for everybody.
    pub strict: bool,
}

impl Drive {
    /// The answer as a whole.
    pub fn whole<Q, R: Reply>(
        &self,
        request: Request<Q>,
        convert: impl FnOnce(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
    ) -> impl Future<Output = Result<Response<R::Answer>, Status>> + Send {
        let open = self.open(request, convert);
        async move { self.answer(open?).await }
    }

    async fn answer<R: Reply>(&self, open: Box<Open<R>>) -> Result<Response<R::Answer>, Status> {
        let Ready { who, request, reply, metadata, mut notes, mut spending, id, arguments } =
            self.ready(open).await?;
        spending.asked();
        let answer = self.backend.generate(&request).await;
        if answer.is_err() {
            spending.refused();
        }
        let mut whole = answer.map_err(fault)?;
        Ids::new(R::CALL, &id).give(&mut whole);
        arguments.check(&mut whole)?;
        notes.see(&whole);
        spending.see(&whole);
        self.ledger.keep(&who, notes).await;
        let mut response = Response::new(reply.answer(whole)?);
        *response.metadata_mut() = metadata;
        Ok(response)
    }

    /// The answer piece by piece. It begins with the first chunk, so that a refusal is one.
    pub fn stream<Q, R: Reply>(
        &self,
        request: Request<Q>,
        convert: impl FnOnce(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
    ) -> impl Future<Output = Result<Response<BoxStream<R::Event>>, Status>> + Send {
        let open = self.open(request, convert);
        async move { self.answering(open?).await }
    }

    async fn answering<R: Reply>(&self, open: Box<Open<R>>) -> Result<Response<BoxStream<R::Event>>, Status> {
        let mut ready = self.ready(open).await?;
        let metadata = std::mem::take(&mut ready.metadata);
        let request = std::mem::take(&mut ready.request);
        ready.spending.asked();
        let mut chunks = self.backend.stream(request);
        let first = timeout(FIRST, chunks.next()).await;
        if let Ok(Some(Err(_))) = &first {
            ready.spending.refused();
        }
        let mut answering = Answering::new(chunks, ready, self.ledger.clone());
        match first {
            Ok(Some(chunk)) => answering.begin(chunk.map_err(fault)?)?,
            Ok(None) => answering.end()?,
            Err(_) => {}
        }
        let mut response = Response::new(Box::pin(answering) as BoxStream<R::Event>);
        *response.metadata_mut() = metadata;
        Ok(response)
    }

    /// What the model would be asked.
    pub async fn preview<Q, R: Reply>(
        &self,
        request: Request<Q>,
        convert: impl FnOnce(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
    ) -> Result<Response<Preview>, Status> {
        let (request, changes, upstream) = self.previewed(request, convert).await?;
        let told = |change: &crate::domain::change::Change| Change {
            field: change.field.clone(),
            how: change.how.as_str().to_owned(),
            why: change.why.clone(),
        };
        let metadata = ready::metadata(&changes, &upstream);
        let changes = changes.changes().iter().map(told).collect();
        let mut response = Response::new(Preview { request: Some(request), changes, upstream });
        *response.metadata_mut() = metadata;
        Ok(response)
    }
}
