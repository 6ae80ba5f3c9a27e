//! The models that the settings name: who serves them, what goes where, and what stands before them. Asked again when the
//! settings are read again.

mod backend;
mod brain;
mod credentials;

use std::sync::Arc;

use self::backend::Maker;
use self::brain::Current;
use super::StartError;
use super::parts::rehearsal;
use crate::config::{self, BackendKind, Model, NamedBackend, VertexAccess};
use crate::domain::brain::Brain;
use crate::domain::model::Backend;
use crate::domain::secret::Secret;
use crate::model::http::{Deadlines, Http, Proxy};
use crate::model::patient::{Patient, Policy};
use crate::model::record::Recorder;
use crate::model::rehearsal::Rehearsal;
use crate::model::router::table::{Arm, Family, Known, Names, Route, Target};
use crate::model::router::{Router, Table};
use crate::service::facade::guard::Routed;
use crate::telemetry::metrics::ModelCalls;

/// What thinks.
pub(super) struct Models {
    brain: Arc<Current>,
    /// For the agent: it waits for a model that is down.
    backend: Arc<dyn Backend>,
    router: Arc<Router>,
    /// None if sessions are not recorded.
    recorder: Option<Arc<Recorder>>,
}

impl Models {
    /// `secrets` are kept out of what is recorded, beside those of the backends.
    pub(super) fn new(
        settings: &Model,
        mut secrets: Vec<Secret>,
        calls: Arc<ModelCalls>,
    ) -> Result<Self, StartError> {
        let (rehearsal, table) = table(settings)?;
        let router = Arc::new(Router::new(table, calls));
        let patient = Arc::new(Patient::new(router.clone(), Policy::agent(settings.patience)));
        secrets.extend(keys(settings));
        let recorder = recorder(settings, patient.clone(), &secrets)?.map(Arc::new);
        let backend: Arc<dyn Backend> = match &recorder {
            Some(recorder) => recorder.clone(),
            None => patient,
        };
        let brain = Arc::new(Current::new(settings, rehearsal));
        Ok(Self { brain, backend, router, recorder })
    }

    pub(super) fn brain(&self) -> Arc<dyn Brain> {
        self.brain.clone()
    }

    pub(super) fn backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    /// For facades: their clients have a patience of their own, and ask again by themselves.
    pub(super) fn for_facades(&self) -> Arc<dyn Backend> {
        Arc::new(Patient::new(self.router.clone(), Policy::facade()))
    }

    /// Whether the settings that are in force lead a name somewhere.
    pub(super) fn routed(&self) -> Routed {
        let router = Arc::clone(&self.router);
        Arc::new(move |model| router.routes(model))
    }

    /// The settings were read again. What is wrong with them changes nothing.
    pub(super) fn exchange(&self, settings: &Model) -> Result<(), StartError> {
        let (rehearsal, table) = table(settings)?;
        if let Some(recorder) = &self.recorder {
            // Before anybody can be asked with them.
            recorder.also(&keys(settings));
        }
        self.router.replace(table);
        self.brain.replace(settings, rehearsal);
        Ok(())
    }
}

/// What comes through to the agent is what a replay should tell it: also that it waited.
fn recorder(
    settings: &Model,
    inner: Arc<dyn Backend>,
    secrets: &[Secret],
) -> Result<Option<Recorder>, StartError> {
    let Some(dir) = &settings.record else { return Ok(None) };
    let cannot = |error| StartError::Record { dir: dir.clone(), error };
    Recorder::new(inner, dir, secrets).map(Some).map_err(cannot)
}

fn keys(settings: &Model) -> Vec<Secret> {
    settings.backends.iter().flat_map(|named| keys_of(&named.kind)).collect()
}

fn keys_of(kind: &BackendKind) -> Vec<Secret> {
    match kind {
        BackendKind::Rehearsal => Vec::new(),
        BackendKind::Gemini { key, .. } => key.iter().cloned().collect(),
        BackendKind::Vertex { access: VertexAccess::Key(key), .. } => vec![key.clone()],
        BackendKind::Vertex { access: VertexAccess::Credentials(_), .. } => Vec::new(),
        BackendKind::CodeAssist { client, .. } => client.iter().map(|client| client.secret.clone()).collect(),
        BackendKind::OpenAi { key, headers, .. } => key.iter().chain(headers.values()).cloned().collect(),
    }
}

/// The backends of the settings, and the rehearsal in any case.
fn table(settings: &Model) -> Result<(Arc<Rehearsal>, Table), StartError> {
    // The rehearsal would answer for any name, and nobody would know.
    let rehearsed = serving(settings).is_some_and(|named| matches!(named.kind, BackendKind::Rehearsal));
    if rehearsed && settings.name != Rehearsal::NAME {
        return Err(StartError::NoModel(settings.name.clone()));
    }
    let rehearsal = Arc::new(rehearsal(settings)?);
    let http = Http::new(deadlines(settings), &proxy(&settings.proxy))?;
    let maker = Maker { http, rehearsal: Arc::clone(&rehearsal), patience: settings.patience };
    let backends = settings.backends.iter().map(|named| maker.backend(named)).collect::<Result<_, _>>()?;
    Ok((rehearsal, Table { names: names(settings), backends }))
}

fn deadlines(settings: &Model) -> Deadlines {
    let Model { connect, first_byte, idle, total, .. } = *settings;
    Deadlines { connect, first_byte, idle, total }
}

fn proxy(proxy: &config::Proxy) -> Proxy {
    match proxy {
        config::Proxy::Environment => Proxy::Environment,
        config::Proxy::None => Proxy::None,
        config::Proxy::Url(url) => Proxy::Url(url.clone()),
    }
}

/// The one that serves the model that is asked where a client names none; none if that is decided anew each time.
pub(super) fn serving(settings: &Model) -> Option<&NamedBackend> {
    let way = names(settings).way(&settings.name, None);
    let stop = way.stops.first().filter(|_| way.arm.is_empty())?;
    settings.backends.get(stop.backend)
}

fn names(settings: &Model) -> Names {
    let target =
        |target: &config::Target| Target { backend: target.backend.clone(), model: target.model.clone() };
    let arm =
        |arm: &config::Arm| Arm { name: arm.name.clone(), weight: arm.weight, target: target(&arm.target) };
    let route = |route: &config::Route| Route {
        model: route.model.clone(),
        arms: route.arms.iter().map(arm).collect(),
        fallback: route.fallback.iter().map(target).collect(),
    };
    let known = |named: &NamedBackend| Known { name: named.name.clone(), family: family(&named.kind) };
    Names {
        backends: settings.backends.iter().map(known).collect(),
        routes: settings.routes.iter().map(route).collect(),
        model: settings.name.clone(),
        fallback: settings.fallback.clone(),
    }
}

fn family(kind: &BackendKind) -> Family {
    match kind {
        BackendKind::Rehearsal => Family::Rehearsal,
        BackendKind::OpenAi { .. } => Family::Any,
        BackendKind::Gemini { .. } | BackendKind::Vertex { .. } | BackendKind::CodeAssist { .. } => {
            Family::Google
        }
    }
}
