//! The events of a message put together. It is how a whole answer is made, so that it says what the stream would.

use crate::proto::anthropic::block::Block as Kind;
use crate::proto::anthropic::delta::Delta as Change;
use crate::proto::anthropic::message_stream_event::Event;
use crate::proto::anthropic::{Block, Message, MessageStreamEvent};

pub(super) fn fold(events: Vec<MessageStreamEvent>) -> Message {
    let mut message = Message::default();
    for event in events.into_iter().filter_map(|event| event.event) {
        match event {
            Event::MessageStart(start) => message = start.message.unwrap_or_default(),
            Event::ContentBlockStart(start) => message.content.extend(start.content_block),
            Event::ContentBlockDelta(delta) => {
                let change = delta.delta.and_then(|delta| delta.delta);
                if let (Some(block), Some(change)) = (message.content.last_mut(), change) {
                    grow(block, change);
                }
            }
            Event::MessageDelta(end) => {
                let stop = end.delta.unwrap_or_default();
                message.stop_reason = stop.stop_reason;
                message.stop_sequence = stop.stop_sequence;
                message.stop_details = stop.stop_details;
                message.usage = end.usage;
            }
            Event::ContentBlockStop(_) | Event::MessageStop(_) | Event::Ping(_) | Event::Other(_) => {}
        }
    }
    message
}

fn grow(block: &mut Block, change: Change) {
    match (&mut block.block, change) {
        (Some(Kind::Text(block)), Change::TextDelta(delta)) => block.text += &delta.text,
        (Some(Kind::Text(block)), Change::CitationsDelta(delta)) => block.citations.push(delta.citation),
        (Some(Kind::Thinking(block)), Change::ThinkingDelta(delta)) => block.thinking += &delta.thinking,
        (Some(Kind::Thinking(block)), Change::SignatureDelta(delta)) => block.signature = delta.signature,
        // It comes in one piece.
        (Some(Kind::ToolUse(block) | Kind::ServerToolUse(block)), Change::InputJsonDelta(delta)) => {
            block.input = delta.partial_json;
        }
        // The line never says one of a block of another kind.
        _ => {}
    }
}
