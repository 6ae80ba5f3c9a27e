//! Blocks on their way out, one behind the other: each begins, grows and ends before the next one does.

use super::carrier;
use crate::proto::anthropic::block::Block as Kind;
use crate::proto::anthropic::delta::Delta as Change;
use crate::proto::anthropic::message_stream_event::Event;
use crate::proto::anthropic::{
    CitationsDelta, ContentBlockDelta, ContentBlockStart, ContentBlockStop, InputJsonDelta,
    MessageStreamEvent, SignatureDelta, TextBlock, TextDelta, ThinkingBlock, ThinkingDelta, ToolUseBlock,
};

pub(super) type Out = Vec<MessageStreamEvent>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Thinking,
}

#[derive(Debug)]
pub(super) struct Line {
    index: i32,
    open: Open,
}

impl Line {
    pub(super) fn new() -> Self {
        Self { index: 0, open: Open::Nothing }
    }

    /// Whether anything was said or begun.
    pub(super) fn is_empty(&self) -> bool {
        self.index == 0 && self.open == Open::Nothing
    }

    pub(super) fn text(&mut self, text: String, out: &mut Out) {
        if self.open != Open::Text {
            self.close(out);
            self.start(Kind::Text(TextBlock::default()), out);
            self.open = Open::Text;
        }
        self.delta(Change::TextDelta(TextDelta { text }), out);
    }

    /// Without words, only that there is a thought.
    pub(super) fn thought(&mut self, words: Option<String>, out: &mut Out) {
        if self.open != Open::Thinking {
            self.close(out);
            self.start(Kind::Thinking(ThinkingBlock::default()), out);
            self.open = Open::Thinking;
        }
        if let Some(thinking) = words {
            self.delta(Change::ThinkingDelta(ThinkingDelta { thinking }), out);
        }
    }

    /// Puts the value under the thought that is open; whether there is one.
    pub(super) fn sign(&mut self, signature: String, out: &mut Out) -> bool {
        let thinking = self.open == Open::Thinking;
        if thinking {
            self.delta(Change::SignatureDelta(SignatureDelta { signature }), out);
            self.stop(out);
        }
        thinking
    }

    /// Adds a source to the text that is open, if there is one.
    pub(super) fn cite(&mut self, citation: String, out: &mut Out) {
        if self.open == Open::Text {
            self.delta(Change::CitationsDelta(CitationsDelta { citation }), out);
        }
    }

    /// A call: its input comes behind its name.
    pub(super) fn call(&mut self, call: ToolUseBlock, block: fn(ToolUseBlock) -> Kind, out: &mut Out) {
        self.close(out);
        let partial_json = if call.input.is_empty() { "{}".to_owned() } else { call.input };
        self.start(block(ToolUseBlock { input: "{}".to_owned(), ..call }), out);
        self.delta(Change::InputJsonDelta(InputJsonDelta { partial_json }), out);
        self.stop(out);
    }

    /// A block that is said at once.
    pub(super) fn whole(&mut self, block: Kind, out: &mut Out) {
        self.close(out);
        self.start(block, out);
        self.stop(out);
    }

    /// Ends what is open. No thought ends without a signature, and be it of nothing.
    pub(super) fn close(&mut self, out: &mut Out) {
        if !self.sign(carrier::nothing(), out) && self.open != Open::Nothing {
            self.stop(out);
        }
    }

    fn start(&mut self, block: Kind, out: &mut Out) {
        let start = ContentBlockStart { index: self.index, content_block: Some(block.into()) };
        out.push(Event::ContentBlockStart(start).into());
    }

    fn delta(&mut self, delta: Change, out: &mut Out) {
        let delta = ContentBlockDelta { index: self.index, delta: Some(delta.into()) };
        out.push(Event::ContentBlockDelta(delta).into());
    }

    fn stop(&mut self, out: &mut Out) {
        out.push(Event::ContentBlockStop(ContentBlockStop { index: self.index }).into());
        self.index += 1;
        self.open = Open::Nothing;
    }
}
