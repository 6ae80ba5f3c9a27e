//! What the settings ask for, part by part: where clients find the server, who may come in, what is stored and what
//! thinks. `app` puts the parts together.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::StartError;
use super::models::Models;
use crate::agent::Engine;
use crate::config::token;
use crate::config::{self, AuthMode, LOCAL_KEY, Settings, UnknownModels};
use crate::domain::media::Fetch;
use crate::domain::principal::Principal;
use crate::domain::secret::Secret;
use crate::domain::shelf::Shelf;
use crate::domain::store::Store;
use crate::fetch::{self, Fetcher};
use crate::model::rehearsal::{BadScript, Rehearsal, Script};
use crate::proto::a2a::AgentExtension;
use crate::push::{self, Deliverer};
use crate::service::a2a::Options;
use crate::service::card::{Offer, Place};
use crate::service::facade::guard::Guard;
use crate::service::facade::media::Media;
use crate::service::push_body::PushBodies;
use crate::store::Durability;
use crate::transport::{Access, Keys, Origins, Rim};

/// What clients are told. Nobody can call 0.0.0.0, so without a public URL it becomes loopback.
pub(super) fn place(settings: &Settings, bound: SocketAddr) -> Place {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let here = SocketAddr::new(ip, bound.port());
    let url = settings
        .public_url
        .as_ref()
        .map_or_else(|| format!("{scheme}://{here}"), |url| url.as_str().to_owned());
    Place { authority: authority(&url), url, needs_key: !matches!(settings.auth, AuthMode::None) }
}

/// `host:port` of a URL, the port being the scheme's where the URL names none.
fn authority(url: &str) -> String {
    let uri: http::Uri = url.parse().unwrap_or_default();
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    format!("{}:{port}", uri.host().unwrap_or_default())
}

pub(super) fn access(settings: &Settings) -> Result<(Access, Option<token::LocalToken>), StartError> {
    let AuthMode::Token { keys } = &settings.auth else { return Ok((Access::Open, None)) };
    let local = token::load_or_create(&settings.data_dir)?;
    let named = keys.iter().map(|named| (Principal::named(&named.name), named.key.clone()));
    let all = named.chain([(Principal::named(LOCAL_KEY), local.token.clone())]).collect();
    Ok((Access::Keys(Keys::new(all)), Some(local)))
}

/// What holders of named keys may ask of models. The local token has no bounds.
pub(super) fn guard(settings: &Settings, models: &Models) -> Guard {
    let keys: &[_] = match &settings.auth {
        AuthMode::None => &[],
        AuthMode::Token { keys } => keys,
    };
    let allowances = keys.iter().map(|key| (Principal::named(&key.name), key.allowance.clone()));
    let refuse = settings.facade.unknown_models == UnknownModels::Refuse;
    Guard::new(allowances, refuse.then(|| models.routed()))
}

/// Who fetches what requests only name.
pub(super) fn media(settings: &Settings) -> Result<Media, StartError> {
    let allow_hosts = settings.facade.media_hosts.iter().map(|host| host.as_str().to_owned()).collect();
    let options = fetch::Options { allow_hosts, ..fetch::Options::default() };
    let fetcher = settings.facade.fetch_media.then(|| Fetcher::new(options)).transpose()?;
    Ok(Media::new(fetcher.map(|fetcher| Arc::new(fetcher) as Arc<dyn Fetch>)))
}

/// What opens this server.
pub(super) fn secrets(settings: &Settings, local: Option<&token::LocalToken>) -> Vec<Secret> {
    let named: &[_] = match &settings.auth {
        AuthMode::None => &[],
        AuthMode::Token { keys } => keys,
    };
    named.iter().map(|named| &named.key).chain(local.map(|local| &local.token)).cloned().collect()
}

pub(super) fn rim(settings: &Settings, bound: SocketAddr, access: Access) -> Rim {
    let listed = settings.allowed_origins.iter().map(|origin| origin.as_str().to_owned()).collect();
    Rim {
        bound,
        hosts: settings.allowed_hosts.iter().map(|host| host.as_str().to_owned()).collect(),
        origins: Origins { listed, loopback: matches!(access, Access::Keys(_)) },
        access,
        body_limit: settings.limits.body_bytes,
    }
}

pub(super) fn durability(settings: &Settings) -> Durability {
    match settings.store.durability {
        config::Durability::Process => Durability::Process,
        config::Durability::Power => Durability::Power,
    }
}

pub(super) fn rehearsal(settings: &config::Model) -> Result<Rehearsal, StartError> {
    let Some(path) = &settings.rehearsal else {
        let bad =
            |e: BadScript| StartError::Rehearsal { path: "built in".to_owned(), problem: e.to_string() };
        return Rehearsal::built_in().map_err(bad);
    };
    let bad = |problem: String| StartError::Rehearsal { path: path.display().to_string(), problem };
    let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
    let first_line = |e: BadScript| bad(e.to_string().lines().next().unwrap_or_default().to_owned());
    Script::parse(&text).map(Rehearsal::new).map_err(first_line)
}

pub(super) fn offer(settings: &Settings) -> Offer {
    let extension = |e: &config::Extension| AgentExtension {
        uri: e.uri.clone(),
        description: e.description.clone(),
        required: e.required,
        params: None,
    };
    Offer {
        streaming: settings.a2a.streaming,
        push_notifications: settings.a2a.push_notifications,
        extended_card: settings.a2a.extended_card,
        development_tool_required: settings.a2a.development_tool_required,
        extensions: settings.a2a.extensions.iter().map(extension).collect(),
    }
}

pub(super) fn options(settings: &Settings) -> Result<Options, StartError> {
    Ok(Options {
        repeat_window: settings.a2a.repeat_window,
        page_key: page_key()?,
        push_hosts: push_hosts(settings),
        tenants: settings.a2a.tenants.clone(),
    })
}

/// Tokens of pages are good as long as the server runs.
pub(super) fn page_key() -> Result<[u8; 64], StartError> {
    let mut key = [0; 64];
    getrandom::fill(&mut key).map_err(StartError::Random)?;
    Ok(key)
}

fn push_hosts(settings: &Settings) -> Vec<String> {
    settings.push_hosts.iter().map(|host| host.as_str().to_owned()).collect()
}

pub(super) fn deliverer(settings: &Settings, engine: &Engine) -> Result<Option<Deliverer>, StartError> {
    if !settings.a2a.push_notifications {
        return Ok(None);
    }
    let (store, wake) = (Arc::clone(engine.store()), Arc::clone(engine.committed()));
    let options = push::Options { allow_hosts: push_hosts(settings), ..push::Options::default() };
    Ok(Some(Deliverer::new(store, Arc::new(PushBodies), wake, options)?))
}

/// Looks every few minutes for what nobody has worked with for long.
pub(super) fn keep_quiet(engine: Engine) {
    tokio::spawn(async move {
        let mut minutes = tokio::time::interval(Duration::from_mins(5));
        loop {
            minutes.tick().await;
            let engine = engine.clone();
            // Ending processes takes a moment.
            drop(tokio::task::spawn_blocking(move || engine.tidy()).await);
        }
    });
}

/// Forgets what is older than the operator wants to keep, and what facades kept for a while only, now and every hour.
pub(super) fn keep_tidy(store: Arc<dyn Store>, shelf: Arc<dyn Shelf>, retention: Option<Duration>) {
    tokio::spawn(async move {
        let mut hours = tokio::time::interval(Duration::from_hours(1));
        loop {
            hours.tick().await;
            let now = SystemTime::now();
            if let Some(before) = retention.and_then(|retention| now.checked_sub(retention)) {
                told("old tasks", store.purge(before).await);
            }
            told("what facades kept", shelf.sweep(now).await);
        }
    });
}

fn told(what: &str, forgotten: crate::domain::store::Result<u64>) {
    match forgotten {
        Ok(count) if count > 0 => tracing::info!(what, count, "the store was tidied"),
        Ok(_) => {}
        Err(error) => tracing::warn!(what, %error, "the store cannot be tidied"),
    }
}
