//! The models that the settings name: who serves them, what goes where, and what stands before them. Asked again when the
//! settings are read again.

mod backend;
mod credentials;

use std::sync::Arc;

use self::backend::Maker;
use super::StartError;
use super::parts::rehearsal;
use crate::config::{self, BackendKind, Model, NamedBackend, VertexAccess};
use crate::domain::brain::{Brain, Brainless};
use crate::domain::model::Backend;
use crate::domain::secret::Secret;
use crate::model::http::{Deadlines, Http, Proxy};
use crate::model::patient::{Patient, Policy};
use crate::model::record::Recorder;
use crate::model::rehearsal::Rehearsal;
use crate::model::router::table::{Arm, Family, Known, Names, Route, Target};
use crate::model::router::{Router, Table};
use crate::telemetry::metrics::ModelCalls;

/// What thinks.
pub(super) struct Models {
    pub(super) brain: Arc<dyn Brain>,
    /// For the agent: it waits for a model that is down.
    pub(super) backend: Arc<dyn Backend>,
    /// Whose table is exchanged when the settings are read again.
    pub(super) router: Arc<Router>,
}

/// `secrets` are kept out of what is recorded, beside those of the backends.
pub(super) fn models(
    settings: &Model,
    secrets: Vec<Secret>,
    calls: Arc<ModelCalls>,
) -> Result<Models, StartError> {
    let (rehearsal, table) = table(settings)?;
    let router = Arc::new(Router::new(table, calls));
    let patient = Arc::new(Patient::new(router.clone(), Policy::agent(settings.patience)));
    // A script that stands in a message is for the rehearsal alone: nobody else must follow it.
    let brain: Arc<dyn Brain> = match settings.backends.first().map(|first| &first.kind) {
        None | Some(BackendKind::Rehearsal) => rehearsal,
        Some(_) => Arc::new(Brainless),
    };
    let backend = recorded(settings, patient, secrets)?;
    Ok(Models { brain, backend, router })
}

/// What comes through to the agent is what a replay should tell it: also that it waited.
fn recorded(
    settings: &Model,
    backend: Arc<dyn Backend>,
    mut secrets: Vec<Secret>,
) -> Result<Arc<dyn Backend>, StartError> {
    let Some(dir) = &settings.record else { return Ok(backend) };
    secrets.extend(settings.backends.iter().flat_map(|named| keys(&named.kind)));
    let cannot = |error| StartError::Record { dir: dir.clone(), error };
    Ok(Arc::new(Recorder::new(backend, dir, &secrets).map_err(cannot)?))
}

fn keys(kind: &BackendKind) -> Vec<Secret> {
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
pub(super) fn table(settings: &Model) -> Result<(Arc<Rehearsal>, Table), StartError> {
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
