//! What is counted, for whoever collects it: Prometheus reads it at `/metrics`. Knows nothing of who counts.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// Each name is a series for ever, so names that clients make up have an end.
const MODELS: usize = 200;
const OTHER: &str = "other";

/// All that is counted.
pub struct Metrics {
    registry: Registry,
    pub models: Arc<ModelCalls>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("agena");
        let models = Arc::new(ModelCalls::register(&mut registry));
        Self { registry, models }
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
    known: Mutex<HashSet<String>>,
}

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

impl ModelCalls {
    fn register(registry: &mut Registry) -> Self {
        let calls = Self {
            calls: Family::default(),
            tokens: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            first: Family::new_with_constructor(seconds),
            known: Mutex::default(),
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
        let ModelCall { backend, route, arm, outcome, .. } = *call;
        let arm = Arm {
            backend: backend.to_owned(),
            model: self.name(call.model),
            route: route.to_owned(),
            arm: arm.to_owned(),
        };
        self.seconds.get_or_create(&arm).observe(took.as_secs_f64());
        if let Some(first) = first {
            self.first.get_or_create(&arm).observe(first.as_secs_f64());
        }
        for (kind, count) in [
            ("input", tokens.input),
            ("cached", tokens.cached),
            ("output", tokens.output),
            ("thinking", tokens.thinking),
        ] {
            let Arm { backend, model, route, arm } = arm.clone();
            self.tokens.get_or_create(&Token { backend, model, route, arm, kind }).inc_by(count);
        }
        let Arm { backend, model, route, arm } = arm;
        self.calls.get_or_create(&Call { backend, model, route, arm, outcome }).inc();
    }

    fn name(&self, model: &str) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(model) || known.len() < MODELS && known.insert(model.to_owned()) {
            model.to_owned()
        } else {
            OTHER.to_owned()
        }
    }
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
