//! What one answer takes out of what its principal has left. Counted when it is dropped, whole or not, so that whoever
//! leaves early pays for what was made for them.

use std::sync::Arc;

use tonic::metadata::{MetadataMap, MetadataValue};

use super::relayed::Usage;
use super::{Holder, headers};
use crate::domain::model::Relayed;
use crate::domain::principal::Principal;
use crate::proto::gemini::{Candidate, GenerateContentResponse, UsageMetadata};
use crate::service::facade::size;

#[derive(Debug)]
pub struct Spending {
    who: Principal,
    /// None for those without bounds.
    holder: Option<Arc<Holder>>,
    /// Taken beforehand.
    thought: u32,
    /// As far as the model counted; cumulative, so the last one holds.
    usage: Option<u32>,
    /// Of what was said.
    bytes: usize,
    begun: bool,
    ended: bool,
}

impl Spending {
    pub(super) fn unbounded(who: Principal) -> Self {
        Self { who, holder: None, thought: 0, usage: None, bytes: 0, begun: false, ended: false }
    }

    pub(super) fn of(holder: Arc<Holder>, thought: u32) -> Self {
        let mut spending = Self::unbounded(holder.name.clone());
        (spending.holder, spending.thought) = (Some(holder), thought);
        spending
    }

    pub fn see(&mut self, chunk: &GenerateContentResponse) {
        self.begun = true;
        self.usage = chunk.usage_metadata.as_ref().map(total).or(self.usage);
        let finished = |candidate: &Candidate| !candidate.finish_reason.is_empty();
        // A question that is refused ends with that.
        self.ended |= chunk.candidates.iter().any(finished) || chunk.prompt_feedback.is_some();
        self.bytes +=
            chunk.candidates.iter().filter_map(|c| c.content.as_ref()).map(size::length).sum::<usize>();
    }

    /// Somebody works on it from now on, counted or not.
    pub fn asked(&mut self) {
        self.begun = true;
    }

    /// Nothing was made after all.
    pub fn refused(&mut self) {
        self.begun = false;
    }

    /// It was not asked after all.
    pub fn cancel(mut self) {
        if let Some(holder) = self.holder.take() {
            holder.give_back(self.thought);
        }
    }

    /// Counts along while bytes pass through, until their end, where somebody wants to know.
    pub fn watch(mut self, relayed: Relayed) -> Relayed {
        use futures::StreamExt;

        if self.holder.is_none() && !tracing::enabled!(tracing::Level::DEBUG) {
            return relayed;
        }
        let Relayed { status, mut headers, length, body } = relayed;
        for (name, value) in self.lines(false) {
            headers.extend(
                http::HeaderValue::try_from(value).ok().map(|v| (http::HeaderName::from_static(name), v)),
            );
        }
        if status >= 400 {
            return Relayed { status, headers, length, body };
        }
        self.begun = true;
        let mut usage = Usage::default();
        let body = body.inspect(move |bytes| {
            if let Ok(bytes) = bytes {
                self.pass(usage.read(bytes), bytes.len());
            }
        });
        Relayed { status, headers, length, body: body.boxed() }
    }

    fn pass(&mut self, usage: Option<u32>, bytes: usize) {
        self.usage = usage.or(self.usage);
        self.ended = self.usage.is_some();
        self.bytes += bytes;
    }

    /// Where its principal stands, in the words of Anthropic or of OpenAI.
    pub fn tell(&self, anthropic: bool, metadata: &mut MetadataMap) {
        for (name, value) in self.lines(anthropic) {
            if let Ok(value) = MetadataValue::try_from(value) {
                metadata.insert(name, value);
            }
        }
    }

    fn lines(&self, anthropic: bool) -> Vec<(&'static str, String)> {
        let levels = self.holder.as_ref().map(|holder| holder.levels()).unwrap_or_default();
        if anthropic { headers::anthropic(levels) } else { headers::openai(levels) }
    }

    /// How many tokens, and whether that is only an estimate.
    fn spent(&self) -> (u32, bool) {
        match self.usage {
            _ if !self.begun => (0, false),
            Some(usage) if self.ended => (usage, false),
            // Cut, or nobody counted: what was asked and what was seen.
            usage => {
                (self.thought.saturating_add(size::tokens(self.bytes)).max(usage.unwrap_or_default()), true)
            }
        }
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        let (tokens, estimated) = self.spent();
        if let Some(holder) = &self.holder {
            holder.correct(self.thought, tokens);
        }
        if self.begun {
            tracing::debug!(principal = self.who.name(), tokens, estimated, "tokens were used");
        }
    }
}

/// With thoughts, with what tools brought in, and with the question.
fn total(usage: &UsageMetadata) -> u32 {
    let parts = [
        usage.prompt_token_count,
        usage.candidates_token_count,
        usage.thoughts_token_count,
        usage.tool_use_prompt_token_count,
    ];
    let count = |tokens: i32| u32::try_from(tokens).unwrap_or_default();
    parts.into_iter().map(count).fold(0, u32::saturating_add).max(count(usage.total_token_count))
}
