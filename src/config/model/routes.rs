//! `[[model.routes]]`, each with somewhere to go. Does no I/O; `model::decide` calls it.

use super::super::values::{Bounded, ModelName};
use super::error::BadModel;
use super::raw;
use super::settings::{Arm, NamedBackend, Route, Target};
use super::values::Word;

/// The name of the arm of a route that has but one.
const ONLY: &str = "only";

pub(super) fn decide(raw: Vec<raw::Route>, backends: &[NamedBackend]) -> Result<Vec<Route>, BadModel> {
    let mut routes: Vec<Route> = Vec::with_capacity(raw.len());
    for (index, route) in raw.into_iter().enumerate() {
        let at = format!("model.routes[{index}]");
        let model = route.model.0;
        if routes.iter().any(|other| other.model == model) {
            return Err(BadModel::SameRoute { at: format!("{at}.model"), model });
        }
        let arms = match route.arms {
            None => vec![only(&at, route.backend, route.to, backends)?],
            Some(_) if route.backend.is_some() || route.to.is_some() => {
                return Err(BadModel::TargetBesideArms { at });
            }
            Some(given) => arms(&at, given, backends)?,
        };
        let fallback = route.fallback.into_iter().enumerate();
        let fallback = fallback
            .map(|(n, given)| target(&format!("{at}.fallback[{n}]"), given.backend, given.to, backends));
        routes.push(Route { model, arms, fallback: fallback.collect::<Result<_, _>>()? });
    }
    Ok(routes)
}

fn only(
    at: &str,
    backend: Option<Word>,
    to: Option<ModelName>,
    backends: &[NamedBackend],
) -> Result<Arm, BadModel> {
    Ok(Arm { name: ONLY.to_owned(), weight: 1, target: target(at, backend, to, backends)? })
}

fn arms(at: &str, given: Vec<raw::Arm>, backends: &[NamedBackend]) -> Result<Vec<Arm>, BadModel> {
    let mut arms: Vec<Arm> = Vec::with_capacity(given.len());
    for (index, arm) in given.into_iter().enumerate() {
        let at = format!("{at}.arms[{index}]");
        let name = arm.name.0;
        if arms.iter().any(|other| other.name == name) {
            return Err(BadModel::SameArm { at: format!("{at}.name"), name });
        }
        let target = target(&at, arm.backend, arm.to, backends)?;
        arms.push(Arm { name, weight: arm.weight.map_or(1, Bounded::get), target });
    }
    match arms.iter().any(|arm| arm.weight > 0) {
        true => Ok(arms),
        false if arms.is_empty() => Err(BadModel::NoTarget { at: format!("{at}.arms") }),
        false => Err(BadModel::NoWeight { at: format!("{at}.arms") }),
    }
}

fn target(
    at: &str,
    backend: Option<Word>,
    to: Option<ModelName>,
    backends: &[NamedBackend],
) -> Result<Target, BadModel> {
    if backend.is_none() && to.is_none() {
        return Err(BadModel::NoTarget { at: at.to_owned() });
    }
    let backend = backend.map(|name| name.0);
    match backend.as_ref().filter(|name| backends.iter().all(|backend| backend.name != **name)) {
        None => Ok(Target { backend, model: to.map(|model| model.0) }),
        Some(name) => Err(BadModel::UnknownBackend {
            at: format!("{at}.backend"),
            name: name.clone(),
            known: backends.iter().map(|backend| backend.name.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}
