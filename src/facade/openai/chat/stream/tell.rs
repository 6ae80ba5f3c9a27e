//! Whom an answer is told to, piece by piece: a list of chunks, or the answer as a whole, which then needs no chunk. One machine
//! tells both, so both say the same.

use super::Head;
use crate::proto::openai::{ChatCompletionChunk, ChunkChoice, Delta, Usage};

pub trait Tell {
    /// Something new of one choice; `logprobs` (JSON text) belong to it.
    fn delta(&mut self, head: &Head, index: i32, delta: Delta, logprobs: String);

    /// Why the choice ends.
    fn end(&mut self, head: &Head, index: i32, reason: &'static str);

    /// What it took.
    fn usage(&mut self, head: &Head, usage: Usage);
}

impl Tell for Vec<ChatCompletionChunk> {
    fn delta(&mut self, head: &Head, index: i32, delta: Delta, logprobs: String) {
        let choice = ChunkChoice { index, delta: Some(delta), logprobs, ..ChunkChoice::default() };
        self.push(head.chunk(vec![choice]));
    }

    fn end(&mut self, head: &Head, index: i32, reason: &'static str) {
        let (delta, finish_reason) = (Some(Delta::default()), Some(reason.to_owned()));
        self.push(head.chunk(vec![ChunkChoice { index, delta, finish_reason, ..ChunkChoice::default() }]));
    }

    fn usage(&mut self, head: &Head, usage: Usage) {
        self.push(ChatCompletionChunk { usage: Some(usage), ..head.chunk(Vec::new()) });
    }
}

impl Head {
    fn chunk(&self, choices: Vec<ChunkChoice>) -> ChatCompletionChunk {
        ChatCompletionChunk {
            id: self.name.clone(),
            object: "chat.completion.chunk".to_owned(),
            created: self.created,
            model: self.model.clone(),
            choices,
            usage: self.usage.then(Usage::default),
            service_tier: self.tier.clone(),
            ..ChatCompletionChunk::default()
        }
    }
}
