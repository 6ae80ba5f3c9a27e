//! What is counted, for whoever collects it: Prometheus reads it at `/metrics`. Knows nothing of who counts.

mod mcp;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

pub use mcp::McpCalls;

/// Each name is a series for ever, so names that clients make up have an end.
const MODELS: usize = 200;
const OTHER: &str = "other";

/// All that is counted.
pub struct Metrics {
    registry: Registry,
    pub models: Arc<ModelCalls>,
    pub mcp: Arc<McpCalls>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("agena");
        let models = Arc::new(ModelCalls::register(&mut registry));
        let mcp = Arc::new(McpCalls::register(&mut registry));
        Self { registry, models, mcp }
    }
}

impl Metrics {
    /// As OpenMetrics has it.
    pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    pub fn print(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Calls of models, by who answered and how it ended.
pub struct ModelCalls {
    calls: Family<Call, Counter>,
    tokens: Family<Token, Counter>,
    seconds: Family<Arm, Histogram, fn() -> Histogram>,
    first: Family<Arm, Histogram, fn() -> Histogram>,
    /// By model, so that most calls find theirs without making a name.
    known: RwLock<HashMap<String, Vec<Arc<Series>>>>,
}

/// What is counted of one arm.
struct Series {
    arm: Arm,
    seconds: Histogram,
    first: Histogram,
    /// In the order of [`KINDS`].
    tokens: [Counter; 4],
    /// By how it ended.
    calls: RwLock<Vec<(&'static str, Counter)>>,
}

const KINDS: [&str; 4] = ["input", "cached", "output", "thinking"];

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct ModelCall<'a> {
    pub backend: &'a str,
    pub model: &'a str,
    pub route: &'a str,
    pub arm: &'a str,
    pub outcome: &'static str,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Tokens {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub thinking: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Arm {
    backend: String,
    model: String,
    route: String,
    arm: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    backend: String,
    model: String,
    route: String,
    arm: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Token {
    backend: String,
    model: String,
    route: String,
    arm: String,
    kind: &'static str,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.05, 2.0, 14))
}

impl Series {
    /// Counts it, unless it is the first that ended so.
    fn ended(&self, outcome: &str) -> bool {
        let calls = self.calls.read().unwrap_or_else(PoisonError::into_inner);
        let known = calls.iter().find(|(word, _)| *word == outcome);
        if let Some((_, counter)) = known {
            counter.inc();
        }
        known.is_some()
    }
}

impl ModelCalls {
    fn register(registry: &mut Registry) -> Self {
        let calls = Self {
            calls: Family::default(),
            tokens: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            first: Family::new_with_constructor(seconds),
            known: RwLock::default(),
        };
        registry.register("model_requests", "Calls of models", calls.calls.clone());
        registry.register("model_tokens", "Tokens that models took and gave", calls.tokens.clone());
        registry.register_with_unit(
            "model_duration",
            "From the question to the end of the answer",
            Unit::Seconds,
            calls.seconds.clone(),
        );
        registry.register_with_unit(
            "model_first_chunk",
            "From the question to the first piece of the answer",
            Unit::Seconds,
            calls.first.clone(),
        );
        calls
    }

    pub fn count(&self, call: &ModelCall<'_>, took: Duration, first: Option<Duration>, tokens: &Tokens) {
        let series = self.series(call);
        series.seconds.observe(took.as_secs_f64());
        if let Some(first) = first {
            series.first.observe(first.as_secs_f64());
        }
        let Tokens { input, cached, output, thinking } = *tokens;
        for (counter, count) in series.tokens.iter().zip([input, cached, output, thinking]) {
            counter.inc_by(count);
        }
        if !series.ended(call.outcome) {
            let Arm { backend, model, route, arm } = series.arm.clone();
            let outcome = call.outcome;
            let counter = self.calls.get_or_create_owned(&Call { backend, model, route, arm, outcome });
            counter.inc();
            series.calls.write().unwrap_or_else(PoisonError::into_inner).push((outcome, counter));
        }
    }

    fn series(&self, call: &ModelCall<'_>) -> Arc<Series> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = find(&known, call.model, call) {
            return series;
        }
        let is_full = !known.contains_key(call.model) && known.len() >= MODELS;
        let found = if is_full { find(&known, OTHER, call) } else { None };
        drop(known);
        found.unwrap_or_else(|| self.begin(if is_full { OTHER } else { call.model }, call))
    }

    fn begin(&self, model: &str, call: &ModelCall<'_>) -> Arc<Series> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = find(&known, model, call) {
            return series;
        }
        let arm = Arm {
            backend: call.backend.to_owned(),
            model: model.to_owned(),
            route: call.route.to_owned(),
            arm: call.arm.to_owned(),
        };
        let tokens = KINDS.map(|kind| {
            let Arm { backend, model, route, arm } = arm.clone();
            self.tokens.get_or_create_owned(&Token { backend, model, route, arm, kind })
        });
        let (seconds, first) = (self.seconds.get_or_create_owned(&arm), self.first.get_or_create_owned(&arm));
        let series = Arc::new(Series { arm, seconds, first, tokens, calls: RwLock::default() });
        known.entry(model.to_owned()).or_default().push(Arc::clone(&series));
        series
    }
}

fn find(known: &HashMap<String, Vec<Arc<Series>>>, model: &str, call: &ModelCall<'_>) -> Option<Arc<Series>> {
    let is_it = |series: &&Arc<Series>| {
        let Arm { backend, route, arm, .. } = &series.arm;
        (backend.as_str(), route.as_str(), arm.as_str()) == (call.backend, call.route, call.arm)
    };
    known.get(model)?.iter().find(is_it).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_arm_and_names_have_an_end() {
        let metrics = Metrics::default();
        let tokens = Tokens { input: 5, output: 7, ..Tokens::default() };
        let call = |model: &str| {
            let call = ModelCall { backend: "gemini", model, route: "gpt-*", arm: "b", outcome: "answered" };
            metrics.models.count(&call, Duration::from_millis(100), Some(Duration::from_millis(20)), &tokens);
        };
        call("one");
        call("one");
        (0..MODELS + 10).for_each(|number| call(&number.to_string()));
        let text = metrics.print();
        let labels = r#"backend="gemini",model="one",route="gpt-*",arm="b""#;
        assert!(
            text.contains(&format!("agena_model_requests_total{{{labels},outcome=\"answered\"}} 2\n")),
            "{text}"
        );
        assert!(text.contains(&format!("agena_model_tokens_total{{{labels},kind=\"output\"}} 14\n")));
        assert!(text.contains(&format!("agena_model_duration_seconds_count{{{labels}}} 2\n")));
        assert!(text.contains("model=\"other\"") && !text.contains("model=\"205\""));
        assert!(text.ends_with("# EOF\n"));
    }
}
