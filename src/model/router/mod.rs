//! The way from a name to a backend: routes, aliases, arms and fallbacks, exchangeable while the server runs. Knows
//! backends by their contract alone; `app` fills it, everybody who asks a model asks it.

mod meter;
mod relay;
mod rest;
pub mod table;

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use futures::{Stream, StreamExt, stream};
use tokio::time::Instant;

use self::meter::{Meter, Who};
use self::rest::{Rests, passes_on};
use self::table::{Names, Stop, Way};
use crate::domain::model::{Backend, Chunks, ModelCause, ModelError, Prepared, Relay, Relayed};
use crate::domain::pattern::covers;
use crate::proto::gemini::{
    BatchEmbedContentsRequest, BatchEmbedContentsResponse, CountTokensRequest, CountTokensResponse,
    GenerateContentRequest, GenerateContentResponse, Model,
};
use crate::telemetry::metrics::ModelCalls;

/// Who can be asked.
#[derive(Clone, Default)]
pub struct Table {
    pub names: Names,
    /// In the order of `names.backends`.
    pub backends: Vec<Arc<dyn Backend>>,
}

pub struct Router {
    /// Answers that have begun end with the table that they began with.
    now: RwLock<Arc<Now>>,
    calls: Arc<ModelCalls>,
}

/// A table, and who of it should be left alone. A new table begins with everybody.
struct Now {
    table: Table,
    rests: Rests,
}

impl Now {
    fn of(table: Table) -> Arc<Self> {
        Arc::new(Self { table, rests: Rests::default() })
    }
}

impl Router {
    pub fn new(table: Table, calls: Arc<ModelCalls>) -> Self {
        Self { now: RwLock::new(Now::of(table)), calls }
    }

    /// From now on.
    pub fn replace(&self, table: Table) {
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Now::of(table);
    }

    fn now(&self) -> Arc<Now> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn trip(&self, model: &str, request: Option<&GenerateContentRequest>) -> Trip {
        let now = self.now();
        let Way { route, arm, mut stops } = now.table.names.way(model, request);
        if request.is_some_and(looks_up) {
            // Whoever cannot would answer from memory, and nobody would know.
            let way = stops.clone();
            let others = now.table.names.stops(model);
            stops.extend(others.into_iter().filter(|stop| !way.contains(stop)));
            stops.retain(|stop| {
                now.table.backends.get(stop.backend).is_some_and(|backend| backend.searches(&stop.model))
            });
        }
        now.rests.order(&mut stops, Instant::now());
        let calls = Arc::clone(&self.calls);
        Trip { now, calls, route, arm, stops: stops.into_iter(), at: None, passing: None }
    }
}

/// On the way from one backend to the next.
struct Trip {
    now: Arc<Now>,
    calls: Arc<ModelCalls>,
    route: String,
    arm: String,
    stops: std::vec::IntoIter<Stop>,
    at: Option<Stop>,
    /// Somebody failed who may well answer later.
    passing: Option<ModelError>,
}

/// Asks for a tool of the model's own that reaches the web.
fn looks_up(request: &GenerateContentRequest) -> bool {
    const WEB: [&str; 4] = ["\"googleSearch\"", "\"google_search\"", "\"urlContext\"", "\"url_context\""];
    request.tools.iter().any(|tool| WEB.iter().any(|name| tool.extra.contains(name)))
}

impl Trip {
    /// The next backend, and the name that it knows the model by.
    fn next(&mut self) -> Option<(Arc<dyn Backend>, String, Meter)> {
        let (backend, who) = self.stop()?;
        let model = who.model.clone();
        Some((backend, model, Meter::new(Arc::clone(&self.calls), who)))
    }

    fn stop(&mut self) -> Option<(Arc<dyn Backend>, Who)> {
        let stop = self.stops.next()?;
        let backend = Arc::clone(self.now.table.backends.get(stop.backend)?);
        let named = self.now.table.names.backends.get(stop.backend).map(|known| known.name.clone());
        let who = Who {
            backend: named.unwrap_or_default(),
            model: stop.model.clone(),
            route: self.route.clone(),
            arm: self.arm.clone(),
        };
        self.at = Some(stop);
        Some((backend, who))
    }

    /// Whether somebody else is to be asked.
    fn goes_on(&mut self, error: &ModelError) -> bool {
        let sooner = |before: &ModelError| before.retry_after <= error.retry_after;
        if error.cause.is_passing() && !self.passing.as_ref().is_some_and(sooner) {
            self.passing = Some(error.clone());
        }
        if !passes_on(error) {
            return false;
        }
        if let Some(stop) = &self.at {
            self.now.rests.begin(stop, error, Instant::now());
        }
        self.stops.len() > 0
    }

    /// What is told when nobody answered: if one may answer later, that counts, not what is wrong with another.
    fn verdict(&mut self, last: ModelError) -> ModelError {
        let Some(passing) = self.passing.take() else { return last };
        if !last.cause.is_passing() {
            tracing::warn!(error = %last, "a fallback cannot answer either");
        }
        passing
    }

    fn arrived(&self) {
        if let Some(stop) = &self.at {
            self.now.rests.end(stop);
        }
    }
}

/// An answer on its way.
struct Asking {
    trip: Trip,
    /// As long as somebody else may still be asked with it.
    request: Option<GenerateContentRequest>,
    now: Option<(Chunks, Meter)>,
    begun: bool,
}

impl Asking {
    /// Asks the next one.
    fn ask(&mut self) {
        let Some((backend, model, meter)) = self.trip.next() else { return };
        let request = match self.trip.stops.len() {
            0 => self.request.take(),
            _ => self.request.clone(),
        };
        let request = GenerateContentRequest { model, ..request.unwrap_or_default() };
        self.now = Some((backend.stream(request), meter));
    }

    /// What is told of an error, unless somebody else is asked.
    fn failed(&mut self, error: ModelError) -> Option<ModelError> {
        if let Some((_, meter)) = &mut self.now {
            meter.failed(&error);
        }
        self.now = None;
        if self.begun {
            return Some(error);
        }
        if !self.trip.goes_on(&error) {
            return Some(self.trip.verdict(error));
        }
        self.ask();
        None
    }
}

/// Not made of a future for each chunk: they come by the thousand, and each would carry all of this along.
impl Stream for Asking {
    type Item = Result<GenerateContentResponse, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            let Some((chunks, meter)) = &mut this.now else { return Poll::Ready(None) };
            match ready!(chunks.poll_next_unpin(context)) {
                Some(Ok(chunk)) => {
                    meter.heard(&chunk);
                    if !std::mem::replace(&mut this.begun, true) {
                        this.trip.arrived();
                    }
                    return Poll::Ready(Some(Ok(chunk)));
                }
                Some(Err(error)) => {
                    if let Some(error) = this.failed(error) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                None => {
                    meter.ended();
                    this.now = None;
                }
            }
        }
    }
}

#[async_trait]
impl Backend for Router {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        let trip = self.trip(&request.model, Some(&request));
        let mut asking = Asking { trip, request: Some(request), now: None, begun: false };
        asking.ask();
        match asking.now {
            None => stream::iter([Err(nobody())]).boxed(),
            Some(_) => asking.boxed(),
        }
    }

    async fn generate(
        &self,
        request: &GenerateContentRequest,
    ) -> Result<GenerateContentResponse, ModelError> {
        let (mut trip, mut last) = (self.trip(&request.model, Some(request)), None);
        while let Some((backend, model, mut meter)) = trip.next() {
            // Most know the model by the name that it is asked for.
            let renamed = || Box::new(GenerateContentRequest { model: model.clone(), ..request.clone() });
            let renamed = (model != request.model).then(renamed);
            let error = match backend.generate(renamed.as_deref().unwrap_or(request)).await {
                Ok(answer) => {
                    meter.heard(&answer);
                    meter.ended();
                    trip.arrived();
                    return Ok(answer);
                }
                Err(error) => error,
            };
            meter.failed(&error);
            let goes_on = trip.goes_on(&error);
            last = Some(error);
            if !goes_on {
                break;
            }
        }
        Err(trip.verdict(last.unwrap_or_else(nobody)))
    }

    async fn count_tokens(&self, request: CountTokensRequest) -> Result<CountTokensResponse, ModelError> {
        let whole = request.generate_content_request.as_ref();
        let (backend, model) = self.first(&request.model, whole).ok_or_else(nobody)?;
        backend.count_tokens(CountTokensRequest { model, ..request }).await
    }

    async fn embed(
        &self,
        request: BatchEmbedContentsRequest,
    ) -> Result<BatchEmbedContentsResponse, ModelError> {
        let (backend, model) = self.first(&request.model, None).ok_or_else(nobody)?;
        backend.embed(BatchEmbedContentsRequest { model, ..request }).await
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let now = self.now();
        let (mut models, mut failed, mut known) = (Vec::new(), None, HashSet::new());
        for backend in &now.table.backends {
            match backend.models().await {
                // The first that has a name is the one that is asked.
                Ok(more) => models.extend(more.into_iter().filter(|model| known.insert(model.name.clone()))),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if models.is_empty() => Err(error),
            _ => Ok(with_aliases(&now.table.names, models)),
        }
    }

    /// By whoever would be asked first.
    fn prepare(&self, request: GenerateContentRequest) -> Prepared {
        let mut trip = self.trip(&request.model, Some(&request));
        let Some((backend, who)) = trip.stop() else {
            return Prepared { request, changes: Vec::new(), upstream: String::new() };
        };
        let upstream = [who.backend.as_str(), "/", &who.model].concat();
        let prepared = backend.prepare(GenerateContentRequest { model: who.model, ..request });
        Prepared { upstream, ..prepared }
    }

    async fn relay(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        self.pass(relay).await
    }

    fn default_model(&self) -> Option<String> {
        Some(self.now().table.names.model.clone()).filter(|model| !model.is_empty())
    }

    /// Whether anybody on the way can, on whatever arm.
    fn searches(&self, model: &str) -> bool {
        let now = self.now();
        let ways = now.table.names.stops(model);
        ways.iter().any(|stop| {
            now.table.backends.get(stop.backend).is_some_and(|backend| backend.searches(&stop.model))
        })
    }
}

impl Router {
    /// Whether the settings lead this name somewhere, by a route or because it is the default.
    pub fn routes(&self, model: &str) -> bool {
        let names = &self.now().table.names;
        model.is_empty()
            || model == names.model
            || names.routes.iter().any(|route| covers(&route.model, model))
    }

    /// For questions that only one backend can answer.
    fn first(
        &self,
        model: &str,
        request: Option<&GenerateContentRequest>,
    ) -> Option<(Arc<dyn Backend>, String)> {
        let now = self.now();
        let stop = now.table.names.way(model, request).stops.into_iter().next()?;
        Some((Arc::clone(now.table.backends.get(stop.backend)?), stop.model))
    }
}

/// Routes without a star are names that can be asked for like any other, with the bounds of what they lead to.
fn with_aliases(names: &Names, mut models: Vec<Model>) -> Vec<Model> {
    for alias in names.routes.iter().map(|route| &route.model).filter(|model| !model.contains('*')) {
        let Some(stop) = names.way(alias, None).stops.into_iter().next() else { continue };
        let bare = || Model {
            display_name: alias.clone(),
            supported_generation_methods: vec!["generateContent".to_owned()],
            ..Model::default()
        };
        let target = models.iter().find(|model| model.name == stop.model).cloned().unwrap_or_else(bare);
        models.retain(|model| model.name != *alias);
        models.push(Model { name: alias.clone(), base_model_id: stop.model, ..target });
    }
    models
}

fn nobody() -> ModelError {
    ModelError::new(ModelCause::Unsupported, "there is no model that could be asked this")
}
