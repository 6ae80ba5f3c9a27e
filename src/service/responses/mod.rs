//! OpenAI's Responses API over whatever model stands behind: answers are stored, gone on from, and run on without their
//! callers where these ask for it.

mod background;
mod desk;
mod running;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use tonic::codegen::BoxStream;
use tonic::{Extensions, Request, Response, Status};

use self::background::Launched;
use self::desk::Desk;
use self::running::Running;
use super::facade::Drive;
use super::who;
use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::domain::shelf::Shelf;
use crate::facade::openai::responses::{Answer, Told, convert, id, items, listed, shown};
use crate::facade::{Asked, Converted};
use crate::proto::facade::Preview;
use crate::proto::openai::responses_service_server::ResponsesService;
use crate::proto::openai::{
    self, CancelResponseRequest, CreateResponseRequest, DeleteResponseRequest, DeletedResponse,
    GetResponseRequest, InputTokens, Item, ItemList, Items, ListInputItemsRequest, ResponseError,
    ResponseEvent, ResponseInput, response_input,
};

pub struct Responses {
    drive: Drive,
    desk: Desk,
    running: Running,
}

/// A request and what it stands on.
struct Whole {
    request: Request<CreateResponseRequest>,
    who: Principal,
    input: Vec<Item>,
    earlier: Vec<Item>,
}

impl Responses {
    /// Answers are kept for so long,
    /// and what was said before an answer may be so many bytes.
    pub fn new(drive: Drive, shelf: Arc<dyn Shelf>, keep: Duration, most: usize) -> Self {
        Self { drive, desk: Desk::new(shelf, keep, most), running: Running::default() }
    }

    /// The server stops: what runs on without its callers has so long to end.
    pub async fn drain(&self, limit: Duration) {
        self.running.drain(limit).await;
    }

    /// With what was said before, and without references.
    async fn whole(&self, mut request: Request<CreateResponseRequest>) -> Result<Whole, Error> {
        let who = who(request.extensions())?;
        let message = request.get_mut();
        let previous = message.previous_response_id.clone().filter(|id| !id.is_empty());
        let earlier = match &previous {
            Some(id) if self.running.has(&who, id) => {
                let words = format!("the response `{id}` is still in the making; wait for its end");
                return Err(Error::new(Cause::InvalidRequest, words));
            }
            Some(id) => self.desk.chain(&who, id).await?,
            None => Vec::new(),
        };
        let mut input = items(message.input.take());
        self.desk.dereference(&who, &mut input, &earlier).await?;
        let given = response_input::Input::Items(Items { items: input.clone() });
        message.input = Some(ResponseInput { input: Some(given) });
        Ok(Whole { request, who, input, earlier })
    }

    /// As it lies in the store, or why it will never be more than that.
    async fn stored(&self, who: &Principal, id: &str) -> Result<openai::Response, Error> {
        // Asked first: a run stores its end before it is gone from here.
        let runs = self.running.has(who, id);
        let mut response = self.desk.get(who, id).await?.response.unwrap_or_default();
        if !runs && matches!(response.status.as_str(), "queued" | "in_progress") {
            response.status = "failed".to_owned();
            let message = "The server was restarted before the answer was complete. Ask again.".to_owned();
            response.error = Some(ResponseError { code: "server_error".to_owned(), message });
        }
        Ok(response)
    }
}

/// In seconds.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or_default()
}

#[tonic::async_trait]
impl ResponsesService for Responses {
    async fn create_response(
        &self,
        request: Request<CreateResponseRequest>,
    ) -> Result<Response<openai::Response>, Status> {
        let whole = self.whole(request).await?;
        if whole.request.get_ref().background == Some(true) {
            let Launched { metadata, response, .. } = self.launch(whole).await?;
            return Ok(Response::from_parts(metadata, response, Extensions::default()));
        }
        let Whole { request, who, input, earlier } = whole;
        let answer = self.drive.whole(request, |request, asked| convert(request, earlier, asked)).await?;
        let (metadata, Told { told, keep }, extensions) = answer.into_parts();
        if let Some(full) = keep {
            self.desk.put(&who, *full, input).await?;
        }
        Ok(Response::from_parts(metadata, told, extensions))
    }

    async fn stream_response(
        &self,
        request: Request<CreateResponseRequest>,
    ) -> Result<Response<BoxStream<ResponseEvent>>, Status> {
        let whole = self.whole(request).await?;
        if whole.request.get_ref().background == Some(true) {
            let Launched { metadata, heard, .. } = self.launch(whole).await?;
            return Ok(Response::from_parts(metadata, Box::pin(heard), Extensions::default()));
        }
        let Whole { request, who, mut input, earlier } = whole;
        let answer = self
            .drive
            .stream::<_, Answer>(request, |request, asked| convert(request, earlier, asked))
            .await?;
        let (metadata, events, extensions) = answer.into_parts();
        let desk = self.desk.clone();
        // Whoever hears the end can go on from it at once.
        let events = events.then(move |event| {
            let (desk, who) = (desk.clone(), who.clone());
            let last = event.as_ref().is_ok_and(|event| event.keep.is_some());
            let input = if last { std::mem::take(&mut input) } else { Vec::new() };
            async move {
                let Told { told, keep } = event?;
                if let Some(full) = keep {
                    desk.put(&who, *full, input).await?;
                }
                Ok(told)
            }
        });
        Ok(Response::from_parts(metadata, Box::pin(events), extensions))
    }

    async fn preview_response(
        &self,
        request: Request<CreateResponseRequest>,
    ) -> Result<Response<Preview>, Status> {
        let Whole { request, earlier, .. } = self.whole(request).await?;
        self.drive.preview(request, |request, asked| convert(request, earlier, asked)).await
    }

    async fn count_input_tokens(
        &self,
        request: Request<CreateResponseRequest>,
    ) -> Result<Response<InputTokens>, Status> {
        let Whole { request, earlier, .. } = self.whole(request).await?;
        let (metadata, extensions, message) = request.into_parts();
        let asked = Asked { id: "count", now: now(), version: "" };
        let Converted { request: hub, remote, .. } = convert(message, earlier, &asked)?;
        let counted = self.drive.count_whole(Request::from_parts(metadata, extensions, hub), &remote).await?;
        let input_tokens = counted.try_into().unwrap_or(i64::MAX);
        Ok(Response::new(InputTokens { object: "response.input_tokens".to_owned(), input_tokens }))
    }

    async fn get_response(
        &self,
        request: Request<GetResponseRequest>,
    ) -> Result<Response<openai::Response>, Status> {
        let (who, message) = (who(request.extensions())?, request.get_ref());
        if message.stream == Some(true) {
            let words = "events of the past are not kept; ask without it for the answer as it stands";
            return Err(Error::field("stream", words).into());
        }
        let response = self.stored(&who, &message.response_id).await?;
        Ok(Response::new(shown(response, &message.include)))
    }

    async fn delete_response(
        &self,
        request: Request<DeleteResponseRequest>,
    ) -> Result<Response<DeletedResponse>, Status> {
        let (who, id) = (who(request.extensions())?, request.into_inner().response_id);
        self.running.stop(&who, &id).await;
        self.desk.get(&who, &id).await?;
        let deleted = self.desk.remove(&who, &id).await?;
        Ok(Response::new(DeletedResponse { id, object: "response".to_owned(), deleted }))
    }

    async fn cancel_response(
        &self,
        request: Request<CancelResponseRequest>,
    ) -> Result<Response<openai::Response>, Status> {
        let (who, id) = (who(request.extensions())?, request.into_inner().response_id);
        if self.desk.get(&who, &id).await?.response.unwrap_or_default().background != Some(true) {
            let words = "Cannot cancel a synchronous response: close its connection instead.";
            return Err(Error::new(Cause::InvalidRequest, words).into());
        }
        self.running.stop(&who, &id).await;
        Ok(Response::new(shown(self.stored(&who, &id).await?, &[])))
    }

    async fn list_input_items(
        &self,
        request: Request<ListInputItemsRequest>,
    ) -> Result<Response<ItemList>, Status> {
        let (who, message) = (who(request.extensions())?, request.into_inner());
        let stored = self.desk.get(&who, &message.response_id).await?;
        let previous = stored.response.and_then(|response| response.previous_response_id);
        let mut all = match previous {
            Some(id) => self.desk.chain(&who, &id).await?,
            None => Vec::new(),
        };
        all.extend(stored.input);
        Ok(Response::new(page(all, &message)?))
    }
}

fn page(mut items: Vec<Item>, wanted: &ListInputItemsRequest) -> Result<ItemList, Error> {
    let limit = match wanted.limit.unwrap_or(20) {
        limit @ 1..=100 => usize::try_from(limit).unwrap_or(1),
        _ => return Err(Error::field("limit", "must be between 1 and 100")),
    };
    match wanted.order.as_str() {
        "" | "desc" => items.reverse(),
        "asc" => {}
        other => return Err(Error::field("order", format!("`{other}` is not `asc` or `desc`"))),
    }
    if !wanted.after.is_empty() {
        let at = items.iter().position(|item| id(item) == wanted.after);
        let at = at.ok_or_else(|| Error::field("after", "there is no item with this id"))?;
        items.drain(..=at);
    }
    let has_more = items.len() > limit;
    items.truncate(limit);
    let named = |item: Option<&Item>| item.map(|item| id(item).to_owned());
    let (first_id, last_id) = (named(items.first()), named(items.last()));
    let data = items.into_iter().map(listed).collect();
    Ok(ItemList { object: "list".to_owned(), data, first_id, last_id, has_more })
}
