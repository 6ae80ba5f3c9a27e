//! The development-tool extension in A2A's words: what an update is about, in the metadata under the extension's
//! address, and tool calls and thoughts as data parts. Pure; the 1.0 projection calls it, and 0.3 prints what comes out.

use serde::{Deserialize, Serialize};

use crate::domain::extension::DEVELOPMENT_TOOL;
use crate::proto::a2a::{Part, part};
use crate::proto::devtool::DevelopmentToolEvent;
use crate::proto::devtool::development_tool_event::DevelopmentToolEventKind;
use crate::proto::task::task_event::Event;
use crate::proto::wkt::{Kind, Struct, Value};

/// What an event is, to a client of the extension. None for what it does not show.
pub(super) fn about(event: &Event) -> Option<DevelopmentToolEvent> {
    let (kind, model, error) = match event {
        Event::State(change) => {
            let error = change.error.as_ref().map(|error| error.message.clone());
            (DevelopmentToolEventKind::StateChange, String::new(), error.unwrap_or_default())
        }
        Event::Text(delta) => (DevelopmentToolEventKind::TextContent, delta.model.clone(), String::new()),
        Event::Thought(_) => (DevelopmentToolEventKind::Thought, String::new(), String::new()),
        Event::ToolCall(_) | Event::ToolOutput(_) => {
            (DevelopmentToolEventKind::ToolCallUpdate, String::new(), String::new())
        }
        _ => return None,
    };
    Some(DevelopmentToolEvent { kind: kind.into(), model, error, ..DevelopmentToolEvent::default() })
}

/// Marks the message that carries decisions.
pub fn confirmation() -> Struct {
    let kind = DevelopmentToolEventKind::ToolCallConfirmation.into();
    metadata(&DevelopmentToolEvent { kind, ..DevelopmentToolEvent::default() })
}

pub(super) fn metadata(event: &DevelopmentToolEvent) -> Struct {
    Struct { fields: [(DEVELOPMENT_TOOL.to_owned(), value(event))].into() }
}

/// One of the extension's objects as a part of a message.
pub fn data(object: &impl Serialize) -> Part {
    Part { content: Some(part::Content::Data(value(object))), ..Part::default() }
}

/// These types always print as JSON objects; one that did not would be shown as empty.
fn value(object: &impl Serialize) -> Value {
    let json = serde_json::to_value(object).unwrap_or_default();
    Value::deserialize(json).unwrap_or_else(|_| Kind::Struct(Struct::default()).into())
}
