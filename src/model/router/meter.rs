//! What one call of a model came to, for the log and for metrics: who answered, how it ended, how long it took and how
//! many tokens. It is told when the call ends, in whatever way.

use std::sync::Arc;

use tokio::time::Instant;

use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::{GenerateContentResponse, UsageMetadata};
use crate::telemetry::metrics::{ModelCall, ModelCalls, Tokens};

pub(super) struct Meter {
    calls: Arc<ModelCalls>,
    who: Who,
    began: Instant,
    first: Option<Instant>,
    usage: UsageMetadata,
    outcome: &'static str,
    /// Nobody was asked.
    forgotten: bool,
}

/// Who is asked.
#[derive(Debug, Clone)]
pub(super) struct Who {
    pub(super) backend: String,
    pub(super) model: String,
    pub(super) route: String,
    pub(super) arm: String,
}

impl Meter {
    pub(super) fn new(calls: Arc<ModelCalls>, who: Who) -> Self {
        Self {
            calls,
            who,
            began: Instant::now(),
            first: None,
            usage: UsageMetadata::default(),
            outcome: "left",
            forgotten: false,
        }
    }

    pub(super) fn heard(&mut self, chunk: &GenerateContentResponse) {
        self.first.get_or_insert_with(Instant::now);
        // Cumulative: the last one counts.
        if let Some(usage) = &chunk.usage_metadata {
            self.usage = usage.clone();
        }
        // Nobody has to listen any longer.
        if chunk.candidates.iter().any(|candidate| !candidate.finish_reason.is_empty()) {
            self.outcome = "answered";
        }
    }

    pub(super) fn began(&mut self) {
        self.first.get_or_insert_with(Instant::now);
    }

    /// Of an answer that was not listened to.
    pub(super) fn last_words(&mut self, last: &GenerateContentResponse) {
        let failed = !matches!(self.outcome, "left" | "answered");
        let outcome = self.outcome;
        if self.first.is_some() {
            self.heard(last);
        }
        if failed {
            self.outcome = outcome;
        }
    }

    /// It came to nothing that could be told.
    pub(super) fn forget(&mut self) {
        self.forgotten = true;
    }

    pub(super) fn ended(&mut self) {
        self.outcome = "answered";
    }

    pub(super) fn failed(&mut self, error: &ModelError) {
        self.outcome = word(error.cause);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.forgotten {
            return;
        }
        let (elapsed, first) = (self.began.elapsed(), self.first.map(|first| first - self.began));
        let Who { backend, model, route, arm } = &self.who;
        let tokens = Tokens {
            input: count(self.usage.prompt_token_count),
            cached: count(self.usage.cached_content_token_count),
            output: count(self.usage.candidates_token_count),
            thinking: count(self.usage.thoughts_token_count),
        };
        tracing::info!(
            backend,
            model,
            route,
            arm,
            outcome = self.outcome,
            seconds = elapsed.as_secs_f64(),
            input_tokens = tokens.input,
            output_tokens = tokens.output,
            "model asked"
        );
        let call = ModelCall { backend, model, route, arm, outcome: self.outcome };
        self.calls.count(&call, elapsed, first, &tokens);
    }
}

fn count(tokens: i32) -> u64 {
    u64::try_from(tokens).unwrap_or_default()
}

fn word(cause: ModelCause) -> &'static str {
    match cause {
        ModelCause::Invalid => "invalid",
        ModelCause::TooLong => "too_long",
        ModelCause::Denied => "denied",
        ModelCause::Forbidden => "forbidden",
        ModelCause::NotFound => "not_found",
        ModelCause::Unsupported => "unsupported",
        ModelCause::Limited => "limited",
        ModelCause::Exhausted => "exhausted",
        ModelCause::Unavailable => "unavailable",
        ModelCause::Failed => "failed",
        ModelCause::Broken => "broken",
    }
}
