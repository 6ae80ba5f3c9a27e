//! What has a `type` and its members beside it: blocks, events, deltas. One of a type that is not known here is kept as a
//! whole. serde's own tags would lose the text of numbers and the unknown.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::block::Block as Content;
use super::delta::Delta as Change;
use super::message_stream_event::Event;
use super::result_block::Block as Result_;
use super::source_block::Block as Source;
use super::{Block, Delta, MessageStreamEvent, ResultBlock, SourceBlock};
use crate::proto::vendor::raw::Raw;

const TYPE: &str = "type";

/// A message with a `oneof` whose members are told apart by `type`.
trait Tagged: Sized {
    const TYPES: &'static [&'static str];
    const WHAT: &'static str;

    /// Reads what is of this type out of the members beside it.
    fn read<'de, D: Deserializer<'de>>(kind: &str, members: D) -> Result<Self, D::Error>;

    fn other(whole: String) -> Self;
}

/// The type, and the members beside it.
#[derive(Serialize)]
struct Tag<'a, T> {
    r#type: &'a str,
    #[serde(flatten)]
    members: &'a T,
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    /// Mostly the type stands first, and nothing has to be kept for later.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.is_empty() && name == TYPE {
                let kind: String = map.next_value()?;
                if T::TYPES.contains(&kind.as_str()) {
                    return T::read(&kind, MapAccessDeserializer::new(map));
                }
                members.push((name, serde_json::value::to_raw_value(&kind).map_err(A::Error::custom)?));
            } else {
                members.push((name, map.next_value()?));
            }
        }
        late(&members).map_err(A::Error::custom)
    }
}

/// The type came behind other members, or is not known.
fn late<T: Tagged>(members: &[(String, Box<RawValue>)]) -> serde_json::Result<T> {
    let kind = members.iter().find(|(name, _)| name == TYPE).map(|(_, value)| value.get());
    let kind: String = serde_json::from_str(kind.ok_or_else(|| serde_json::Error::missing_field(TYPE))?)?;
    let beside = members.iter().filter(|(name, _)| name != TYPE);
    if T::TYPES.contains(&kind.as_str()) {
        return T::read(&kind, MapDeserializer::new(beside.map(|(name, value)| (name.as_str(), &**value))));
    }
    let mut whole = format!("{{\"type\":{}", serde_json::to_string(&kind)?);
    for (name, value) in beside {
        whole += &format!(",{}:{}", serde_json::to_string(name)?, value.get());
    }
    Ok(T::other(whole + "}"))
}

macro_rules! tagged {
    ($message:ty, $member:ident: $union:ident, $what:literal, { $($kind:literal => $variant:ident),+ $(,)? }) => {
        impl Tagged for $message {
            const TYPES: &'static [&'static str] = &[$($kind),+];
            const WHAT: &'static str = $what;

            fn read<'de, D: Deserializer<'de>>(kind: &str, members: D) -> Result<Self, D::Error> {
                let read = match kind {
                    $($kind => $union::$variant(Deserialize::deserialize(members)?),)+
                    _ => return Err(D::Error::unknown_variant(kind, Self::TYPES)),
                };
                Ok(read.into())
            }

            fn other(whole: String) -> Self {
                $union::Other(whole).into()
            }
        }

        impl From<$union> for $message {
            fn from(one: $union) -> Self {
                Self { $member: Some(one) }
            }
        }

        impl<'de> Deserialize<'de> for $message {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map(TaggedVisitor(PhantomData))
            }
        }

        impl Serialize for $message {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.$member {
                    None => serializer.collect_map::<&str, &str, _>([]),
                    $(Some($union::$variant(members)) => Tag { r#type: $kind, members }.serialize(serializer),)+
                    Some($union::Other(whole)) => Raw(whole).serialize(serializer),
                }
            }
        }
    };
}

tagged!(Block, block: Content, "a block of content", {
    "text" => Text,
    "image" => Image,
    "document" => Document,
    "search_result" => SearchResult,
    "thinking" => Thinking,
    "redacted_thinking" => RedactedThinking,
    "tool_use" => ToolUse,
    "tool_result" => ToolResult,
    "server_tool_use" => ServerToolUse,
    "web_search_tool_result" => WebSearchToolResult,
    "web_fetch_tool_result" => WebFetchToolResult,
    "code_execution_tool_result" => CodeExecutionToolResult,
});

tagged!(SourceBlock, block: Source, "a block of a document", {
    "text" => Text,
    "image" => Image,
});

tagged!(ResultBlock, block: Result_, "a block of a result", {
    "text" => Text,
    "image" => Image,
    "document" => Document,
    "search_result" => SearchResult,
});

tagged!(MessageStreamEvent, event: Event, "an event", {
    "message_start" => MessageStart,
    "content_block_start" => ContentBlockStart,
    "content_block_delta" => ContentBlockDelta,
    "content_block_stop" => ContentBlockStop,
    "message_delta" => MessageDelta,
    "message_stop" => MessageStop,
    "ping" => Ping,
});

tagged!(Delta, delta: Change, "a delta", {
    "text_delta" => TextDelta,
    "input_json_delta" => InputJsonDelta,
    "citations_delta" => CitationsDelta,
    "thinking_delta" => ThinkingDelta,
    "signature_delta" => SignatureDelta,
});

impl MessageStreamEvent {
    /// Its type, which is also the name of the event that it is printed as.
    pub fn kind(&self) -> Option<&'static str> {
        Some(match self.event.as_ref()? {
            Event::MessageStart(_) => "message_start",
            Event::ContentBlockStart(_) => "content_block_start",
            Event::ContentBlockDelta(_) => "content_block_delta",
            Event::ContentBlockStop(_) => "content_block_stop",
            Event::MessageDelta(_) => "message_delta",
            Event::MessageStop(_) => "message_stop",
            Event::Ping(_) => "ping",
            Event::Other(_) => return None,
        })
    }
}
