//! The settings of models: which backends there are, in which order, and which model is asked when nobody says.
//! Knows no option and no layer, only where the name and the script were written; `decide` calls it.

mod backends;
mod error;
pub(super) mod google;
pub(super) mod raw;
mod routes;
mod settings;
mod values;

use std::time::Duration;

pub use self::error::BadModel;
pub use self::google::GEMINI_URL;
use self::google::Google;
pub use self::settings::{
    Arm, BackendKind, KeyFrom, Model, NamedBackend, OAuthClient, Proxy, Route, Target, VertexAccess,
};
use self::values::ProxyText;
use super::World;
use super::decide::absolute;
use super::error::{ConfigError, Source};
use super::values::{Bounded, ModelName, PathText};

/// Both the backend that needs no network and the model it answers as.
const REHEARSAL: &str = "rehearsal";
/// Of Google's, the one that is generally available and replaces most of those before it.
const GOOGLE_MODEL: &str = "gemini-3.8-flash";
const PATIENCE_SECONDS: u32 = 600;
const CONNECT_SECONDS: u32 = 10;
const FIRST_BYTE_SECONDS: u32 = 120;
const IDLE_SECONDS: u32 = 120;
const TOTAL_SECONDS: u32 = 1800;

/// Where the two keys were written that are weighed against each other.
pub(super) struct Written {
    pub(super) name: Option<Source>,
    pub(super) rehearsal: Option<Source>,
}

/// What is known of the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    None,
    /// In the file, which names backends of its own.
    Aside,
    /// In the file, and nothing else there says who answers.
    OfFile,
    /// By an option or a variable: whoever names a script wants it, whatever keys lie about.
    ByHand,
}

pub(super) fn decide(raw: raw::Model, written: &Written, world: &World) -> Result<Model, ConfigError> {
    let script = match &written.rehearsal {
        None => Script::None,
        Some(Source::File(_)) if raw.backends.is_empty() => Script::OfFile,
        Some(Source::File(_)) => Script::Aside,
        Some(_) => Script::ByHand,
    };
    let google = Google(world);
    let mut backends = backends::decide(raw.backends, &google)?;
    backends.extend(google.backends(&backends)?);
    let backends = with_rehearsal(backends, script);
    let path = |key, path: Option<PathText>| path.map(|path| absolute(key, path.0, world.files)).transpose();
    Ok(Model {
        name: name(raw.name, written.name.as_ref(), script, &backends)?,
        rehearsal: path("model.rehearsal", raw.rehearsal)?,
        record: path("model.record", raw.record)?,
        routes: routes::decide(raw.routes, &backends)?,
        backends,
        fallback: raw.fallback.into_iter().map(|name| name.0).collect(),
        patience: seconds(raw.patience_seconds, PATIENCE_SECONDS),
        connect: seconds(raw.connect_seconds, CONNECT_SECONDS),
        first_byte: seconds(raw.first_byte_seconds, FIRST_BYTE_SECONDS),
        idle: seconds(raw.idle_seconds, IDLE_SECONDS),
        total: seconds(raw.total_seconds, TOTAL_SECONDS),
        proxy: match raw.proxy {
            None => Proxy::Environment,
            Some(ProxyText::None) => Proxy::None,
            Some(ProxyText::Url(url)) => Proxy::Url(url),
        },
    })
}

/// The rehearsal is there if there is a script, or nothing else.
fn with_rehearsal(mut backends: Vec<NamedBackend>, script: Script) -> Vec<NamedBackend> {
    if script == Script::None && !backends.is_empty() {
        return backends;
    }
    let own = backends.iter().position(|backend| matches!(backend.kind, BackendKind::Rehearsal));
    match (own, script) {
        (Some(_), Script::Aside) => backends,
        (own, script) => {
            let new =
                || NamedBackend { name: REHEARSAL.to_owned(), kind: BackendKind::Rehearsal, key_from: None };
            let rehearsal = own.map_or_else(new, |index| backends.remove(index));
            let index = if script == Script::Aside { backends.len() } else { 0 };
            backends.insert(index, rehearsal);
            backends
        }
    }
}

/// A script that leads is asked for by name, unless the one who named the script named a model as well. Variables of
/// other tools are no such word.
fn name(
    given: Option<ModelName>,
    written: Option<&Source>,
    script: Script,
    backends: &[NamedBackend],
) -> Result<String, BadModel> {
    let counts = match (script, written) {
        (Script::None | Script::Aside, _) => true,
        (_, Some(Source::Variable(name))) => name.starts_with("AGENA_"),
        (Script::ByHand, Some(Source::File(_))) => false,
        (Script::OfFile | Script::ByHand, _) => true,
    };
    if let Some(name) = given.filter(|_| counts) {
        return Ok(name.0);
    }
    match backends.first() {
        Some(first) if first.kind.is_google() => Ok(GOOGLE_MODEL.to_owned()),
        Some(NamedBackend { name, kind: BackendKind::OpenAi { .. }, .. }) => {
            Err(BadModel::NoName { backend: name.clone() })
        }
        _ => Ok(REHEARSAL.to_owned()),
    }
}

fn seconds<const MIN: u32, const MAX: u32>(given: Option<Bounded<MIN, MAX>>, default: u32) -> Duration {
    Duration::from_secs(given.map_or(default, Bounded::get).into())
}
