//! The answers of the probe.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agena::domain::error::{Cause, Error};
use agena::domain::principal::Principal;
use agena::domain::request_id::RequestId;
use agena::proto::rpc;
use agena::proto::schema::violations;
use agena::proto::wkt::{self, Empty};
use futures::StreamExt;
use prost::Message;
use tokio::sync::Semaphore;
use tonic::codegen::BoxStream;
use tonic::{Code, Request, Response, Status, Streaming};

use super::pb::probe_service_server::ProbeService;
use super::pb::*;
use super::snake::snake_service_server::SnakeService;
use super::snake::{ReadRequest, ReadResponse};

/// Steps and counts that a test can reach from outside.
#[derive(Debug)]
pub struct Probe {
    /// One permit lets one item of a stepwise stream out.
    pub steps: Semaphore,
    /// Handlers and streams that are alive.
    pub alive: Arc<AtomicUsize>,
}

impl Default for Probe {
    fn default() -> Self {
        Self { steps: Semaphore::new(0), alive: Arc::default() }
    }
}

/// Counts as long as it lives.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The service is shared with the test, so that the test can let steps out.
#[derive(Debug, Clone, Default)]
pub struct Shared(pub Arc<Probe>);

#[tonic::async_trait]
impl ProbeService for Shared {
    async fn echo(&self, request: Request<EchoRequest>) -> Result<Response<EchoResponse>, Status> {
        let EchoRequest { tenant, kinds } = request.into_inner();
        let mut response = Response::new(EchoResponse { tenant, kinds });
        response.metadata_mut().insert("x-probe", "echoed".parse().unwrap());
        Ok(response)
    }

    async fn look(&self, request: Request<LookRequest>) -> Result<Response<LookResponse>, Status> {
        Ok(Response::new(LookResponse { seen: Some(request.into_inner()) }))
    }

    async fn peek(&self, request: Request<PeekRequest>) -> Result<Response<PeekResponse>, Status> {
        Ok(Response::new(PeekResponse { peeked: request.into_inner().id }))
    }

    async fn special(&self, _: Request<SpecialRequest>) -> Result<Response<SpecialResponse>, Status> {
        Ok(Response::new(SpecialResponse { special: true }))
    }

    async fn store(&self, request: Request<StoreRequest>) -> Result<Response<StoreResponse>, Status> {
        Ok(Response::new(StoreResponse { seen: Some(request.into_inner()) }))
    }

    async fn pluck(&self, request: Request<PluckRequest>) -> Result<Response<PluckResponse>, Status> {
        let inner = |n: i32| Inner { label: format!("no {n}"), size: n.into(), ..Inner::default() };
        let inners: Vec<Inner> = (0..request.into_inner().count).map(inner).collect();
        let (first, some) = (inners.first().cloned(), !inners.is_empty());
        let hidden = if some { "not in the answer".to_owned() } else { String::new() };
        Ok(Response::new(PluckResponse { inners, hidden, first, some, ..PluckResponse::default() }))
    }

    async fn keyword(&self, request: Request<KeywordRequest>) -> Result<Response<KeywordResponse>, Status> {
        Ok(Response::new(KeywordResponse { seen: Some(request.into_inner()) }))
    }

    async fn remove(&self, _: Request<RemoveRequest>) -> Result<Response<Empty>, Status> {
        Ok(Response::new(Empty {}))
    }

    async fn custom(&self, request: Request<CustomRequest>) -> Result<Response<CustomResponse>, Status> {
        Ok(Response::new(CustomResponse { purged: request.into_inner().id }))
    }

    async fn count(
        &self,
        request: Request<CountRequest>,
    ) -> Result<Response<BoxStream<CountResponse>>, Status> {
        let CountRequest { to, then_fail, stepwise } = request.into_inner();
        let (probe, alive) = (Arc::clone(&self.0), Alive::new(&self.0.alive));
        let items = futures::stream::iter(1..=to).then(move |number| {
            let (probe, _alive) = (Arc::clone(&probe), &alive);
            async move {
                if stepwise && number > 1 {
                    probe.steps.acquire().await.unwrap().forget();
                }
                let note = Some(wkt::Value::from(wkt::Kind::Number(f64::from(number))));
                Ok(CountResponse { number, note })
            }
        });
        let end = (then_fail != 0).then(|| Err(Status::new(Code::from(then_fail), "told to fail")));
        Ok(Response::new(items.chain(futures::stream::iter(end)).boxed()))
    }

    async fn fail(&self, request: Request<FailRequest>) -> Result<Response<FailResponse>, Status> {
        let request = request.into_inner();
        assert!(!request.panic, "told to panic");
        Err(failure(request))
    }

    async fn wait(&self, request: Request<WaitRequest>) -> Result<Response<WaitResponse>, Status> {
        let _alive = Alive::new(&self.0.alive);
        let name = |p: Option<&Principal>| p.map(|p| p.name().to_owned()).unwrap_or_default();
        let principal = name(request.extensions().get());
        let request_id =
            request.extensions().get::<RequestId>().map(|id| id.as_str().to_owned()).unwrap_or_default();
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert!(!request.metadata().contains_key(name), "a key reached a service in {name}");
        }
        tokio::time::sleep(Duration::from_millis(u64::try_from(request.get_ref().millis).unwrap_or(0))).await;
        Ok(Response::new(WaitResponse { principal, request_id }))
    }

    async fn chat(
        &self,
        request: Request<Streaming<ChatRequest>>,
    ) -> Result<Response<BoxStream<ChatResponse>>, Status> {
        // What comes in a stream is inspected by its service, which could go on after a bad item.
        let heard = request.into_inner().map(|said| {
            let said = said?;
            match violations(&said) {
                found if found.is_empty() => Ok(ChatResponse { heard: said.said }),
                found => Err(Error::invalid(found).into()),
            }
        });
        Ok(Response::new(heard.boxed()))
    }
}

#[tonic::async_trait]
impl SnakeService for Shared {
    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<ReadResponse>, Status> {
        Ok(Response::new(ReadResponse { seen_request: Some(request.into_inner()) }))
    }
}

fn failure(request: FailRequest) -> Status {
    if !request.fields.is_empty() {
        let violation = |field: &String| rpc::bad_request::FieldViolation {
            field: field.clone(),
            description: "is wrong".to_owned(),
            ..Default::default()
        };
        return Error::invalid(request.fields.iter().map(violation).collect()).into();
    }
    if request.retry_after_seconds > 0 {
        let delay = Duration::from_secs(request.retry_after_seconds.unsigned_abs().into());
        return Error::new(Cause::TooManyConnections, request.message).retry_after(delay).into();
    }
    let code = Code::from(request.code);
    if request.reason.is_empty() {
        return Status::new(code, request.message);
    }
    let info = rpc::ErrorInfo { reason: request.reason, domain: request.domain, ..Default::default() };
    let details = rpc::Status {
        code: request.code,
        message: request.message.clone(),
        details: vec![wkt::Any::pack(&info)],
    };
    Status::with_details(code, request.message, details.encode_to_vec().into())
}
