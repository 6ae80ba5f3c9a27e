//! Which backend answers for which name. Pure: names and a conversation in, targets out.

use prost::Message;
use sha2::{Digest, Sha256};

use crate::domain::pattern::covers;
use crate::proto::gemini::GenerateContentRequest;

/// Who can be asked, and what goes where.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// In the order of the settings; the first is the default one.
    pub backends: Vec<Known>,
    /// The first that matches counts.
    pub routes: Vec<Route>,
    /// Asked where a name says nothing to anybody here.
    pub model: String,
    /// Asked in this order when the model cannot answer.
    pub fallback: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    pub family: Family,
}

/// Whose names a backend takes for its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Google,
    /// Any name but those of the three great vendors, which hardly any such server has.
    Any,
    Rehearsal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// `*` stands for anything.
    pub model: String,
    pub arms: Vec<Arm>,
    pub fallback: Vec<Target>,
}

/// One of several ways that requests of a route are spread over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    pub name: String,
    pub weight: u32,
    pub target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Without one, the first.
    pub backend: Option<String>,
    /// Without one, the name that was asked for.
    pub model: Option<String>,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The pattern of the route, or nothing.
    pub route: String,
    /// Nothing where there is only one.
    pub arm: String,
    /// Tried in this order; never empty.
    pub stops: Vec<Stop>,
}

/// A backend, by its place in the list, and the name that it knows the model by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stop {
    pub backend: usize,
    pub model: String,
}

const VENDORS: [&str; 7] = ["gpt-", "chatgpt-", "o1", "o3", "o4", "claude-", "gemini-"];
const GOOGLES: [&str; 4] = ["gemini", "gemma", "embedding-", "text-embedding-"];

impl Family {
    fn knows(self, model: &str) -> bool {
        let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
        match self {
            Self::Google => begins(&GOOGLES),
            Self::Any => !begins(&VENDORS) && model != "rehearsal",
            Self::Rehearsal => model == "rehearsal",
        }
    }
}

impl Names {
    pub fn way(&self, model: &str, request: Option<&GenerateContentRequest>) -> Way {
        let model = if model.is_empty() { &self.model } else { model };
        match self.routes.iter().find(|route| covers(&route.model, model)) {
            Some(route) => self.routed(route, model, request),
            None => self.unrouted(model),
        }
    }

    /// Whether the conversation decides who is asked.
    pub fn spreads(&self, model: &str) -> bool {
        let model = if model.is_empty() { &self.model } else { model };
        let route = self.routes.iter().find(|route| covers(&route.model, model));
        route.is_some_and(|route| route.arms.len() > 1)
    }

    /// Everybody who might be asked for this name, whatever the conversation.
    pub fn stops(&self, model: &str) -> Vec<Stop> {
        let mut stops = self.way(model, None).stops;
        let model = if model.is_empty() { &self.model } else { model };
        if let Some(route) = self.routes.iter().find(|route| covers(&route.model, model)) {
            stops.extend(route.arms.iter().map(|arm| self.stop(&arm.target, model)));
        }
        once(stops)
    }

    fn routed(&self, route: &Route, model: &str, request: Option<&GenerateContentRequest>) -> Way {
        let arm = choose(&route.arms, request);
        let targets = arm.map(|arm| &arm.target).into_iter().chain(&route.fallback);
        let stops: Vec<Stop> = targets.map(|target| self.stop(target, model)).collect();
        let name = arm.filter(|_| route.arms.len() > 1).map(|arm| arm.name.clone()).unwrap_or_default();
        match stops.is_empty() {
            true => self.unrouted(model),
            false => Way { route: route.model.clone(), arm: name, stops: once(stops) },
        }
    }

    fn unrouted(&self, model: &str) -> Way {
        let names = std::iter::once(model).chain(self.fallback.iter().map(String::as_str));
        let stops = once(names.map(|name| self.own(name)).collect());
        Way { route: String::new(), arm: String::new(), stops }
    }

    fn stop(&self, target: &Target, asked: &str) -> Stop {
        let named = |name: &String| self.backends.iter().position(|known| known.name == *name);
        let backend = target.backend.as_ref().and_then(named).unwrap_or_default();
        Stop { backend, model: target.model.clone().unwrap_or_else(|| asked.to_owned()) }
    }

    /// The first backend that takes the name for its own; a name that nobody knows stands for the default model.
    fn own(&self, model: &str) -> Stop {
        let known = self.backends.iter().position(|known| known.family.knows(model));
        match known {
            Some(backend) => Stop { backend, model: model.to_owned() },
            None if model == self.model => Stop { backend: 0, model: model.to_owned() },
            None => self.own(&self.model),
        }
    }
}

/// The same stop twice would only fail twice.
fn once(stops: Vec<Stop>) -> Vec<Stop> {
    if stops.len() < 2 {
        return stops;
    }
    let mut kept: Vec<Stop> = Vec::with_capacity(stops.len());
    for stop in stops {
        if !kept.contains(&stop) {
            kept.push(stop);
        }
    }
    kept
}

/// By the beginning of the conversation, so that it stays with the model that signed its thoughts.
fn choose<'a>(arms: &'a [Arm], request: Option<&GenerateContentRequest>) -> Option<&'a Arm> {
    let total: u64 = arms.iter().map(|arm| u64::from(arm.weight)).sum();
    if arms.len() < 2 || total == 0 {
        return arms.first();
    }
    let begun = request.and_then(|request| request.contents.first()).map(Message::encode_to_vec);
    let digest: [u8; 32] = Sha256::digest(begun.unwrap_or_default()).into();
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let mut left = number % total;
    arms.iter().find(|arm| {
        let weight = u64::from(arm.weight);
        let here = left < weight;
        left = left.saturating_sub(weight);
        here
    })
}

#[cfg(test)]
mod tests;
