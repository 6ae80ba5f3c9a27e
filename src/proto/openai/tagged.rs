//! What has a `type`, and a member of that name: parts, tools, calls, choices. A type that is not known here is kept with
//! all that stands beside it. serde's own tags would lose the text of numbers and the unknown.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::content_part::Part;
use super::tool_call::Call;
use super::tool_choice::Choice;
use super::{ContentPart, Tool, ToolCall, ToolChoice, tool};
use crate::proto::vendor::{Extra, Key, KeyOf, raw, with_extra};

/// A message with a `oneof` whose members are named by `type`.
trait Tagged: Default {
    /// The members that are known. The first is `type`, the types follow, and what stands beside them comes last.
    const MEMBERS: &'static [&'static str];
    /// How many of them are types.
    const TYPES: usize;
    const WHAT: &'static str;
    /// Some clients leave out the member that is named like the type, and write what belongs into it beside the type.
    const FLAT: bool = false;

    /// The type of what it holds.
    fn tag(&self) -> Option<&'static str>;

    /// Reads the member of that name; whether that is what the type is about.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &'static str, map: &mut A) -> Result<bool, A::Error>;

    /// Prints all that is known.
    fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    fn extra(&mut self) -> &mut String;

    /// What a bare text means, where it means something.
    fn of_text(_text: &str) -> Option<Self> {
        None
    }

    /// The bare text that it is, if it is one.
    fn text(&self) -> Option<&str> {
        None
    }
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::of_text(text).ok_or_else(|| E::invalid_type(serde::de::Unexpected::Str(text), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let (mut message, mut extra, mut kind) = (T::default(), Extra::default(), None::<String>);
        while let Some(key) = map.next_key_seed(KeyOf(T::MEMBERS))? {
            match key {
                Key::Known("type") => kind = map.next_value()?,
                Key::Known(name) => {
                    let before = message.tag();
                    if message.read(name, &mut map)? && before.is_some() {
                        return Err(A::Error::custom(format_args!("{} holds one thing", T::WHAT)));
                    }
                }
                Key::Unknown(name) => extra.keep(name, &mut map)?,
            }
        }
        let unknown = unknown_type(&message, kind)?;
        *message.extra() = join(unknown, extra.into_text()).map_err(A::Error::custom)?;
        Ok(message)
    }
}

fn is_type<T: Tagged>(name: &str) -> bool {
    T::MEMBERS.iter().skip(1).take(T::TYPES).any(|tag| *tag == name)
}

/// Who says a type must hold it. Many leave the type out, which says itself.
fn unknown_type<T: Tagged, E: Error>(message: &T, kind: Option<String>) -> Result<Option<String>, E> {
    match (kind, message.tag()) {
        (Some(kind), Some(tag)) if kind != tag => {
            Err(E::custom(format_args!("{} is of type {kind:?} and has {tag:?}", T::WHAT)))
        }
        (Some(kind), None) if is_type::<T>(&kind) && !T::FLAT => {
            Err(E::missing_field(T::MEMBERS.iter().find(|tag| **tag == kind).copied().unwrap_or_default()))
        }
        (Some(kind), None) => Ok(Some(kind)),
        _ => Ok(None),
    }
}

fn join(kind: Option<String>, extra: String) -> serde_json::Result<String> {
    let Some(kind) = kind else { return Ok(extra) };
    let kind = serde_json::to_string(&kind)?;
    let comma = if extra.is_empty() { "}" } else { "," };
    Ok(format!("{{\"type\":{kind}{comma}{}", extra.get(1..).unwrap_or_default()))
}

fn known<T: Tagged, S: Serializer>(message: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    message.print(&mut map)?;
    map.end()
}

macro_rules! tagged {
    ($($message:ty),+) => {$(
        impl<'de> Deserialize<'de> for $message {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TaggedVisitor(PhantomData))
            }
        }

        impl Serialize for $message {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if let Some(text) = Tagged::text(self) {
                    return serializer.serialize_str(text);
                }
                if self.extra.is_empty() {
                    return known(self, serializer);
                }
                with_extra(|out| known(self, &mut serde_json::Serializer::new(out)), &self.extra, serializer)
            }
        }
    )+};
}
tagged!(ContentPart, Tool, ToolCall, ToolChoice);

/// The type, and the member of that name.
fn entry<M: SerializeMap>(map: &mut M, tag: &'static str, value: &impl Serialize) -> Result<(), M::Error> {
    map.serialize_entry("type", tag)?;
    map.serialize_entry(tag, value)
}

fn value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<Option<T>, A::Error> {
    map.next_value()
}

/// `null` is absence.
fn fill<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let found = value.is_some();
    *place = value.or(place.take());
    found
}

impl Tagged for ContentPart {
    const MEMBERS: &'static [&'static str] = &["type", "text", "image_url", "input_audio", "file", "refusal"];
    const TYPES: usize = 5;
    const WHAT: &'static str = "a part of a message";

    fn tag(&self) -> Option<&'static str> {
        self.part.as_ref().map(|part| match part {
            Part::Text(_) => "text",
            Part::ImageUrl(_) => "image_url",
            Part::InputAudio(_) => "input_audio",
            Part::File(_) => "file",
            Part::Refusal(_) => "refusal",
        })
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, name: &'static str, map: &mut A) -> Result<bool, A::Error> {
        let part = match name {
            "text" => value(map)?.map(Part::Text),
            "image_url" => value(map)?.map(Part::ImageUrl),
            "input_audio" => value(map)?.map(Part::InputAudio),
            "file" => value(map)?.map(Part::File),
            _ => value(map)?.map(Part::Refusal),
        };
        Ok(fill(&mut self.part, part))
    }

    fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.part {
            None => Ok(()),
            Some(Part::Text(text)) => entry(map, "text", text),
            Some(Part::ImageUrl(url)) => entry(map, "image_url", url),
            Some(Part::InputAudio(audio)) => entry(map, "input_audio", audio),
            Some(Part::File(file)) => entry(map, "file", file),
            Some(Part::Refusal(text)) => entry(map, "refusal", text),
        }
    }

    fn extra(&mut self) -> &mut String {
        &mut self.extra
    }
}

impl Tagged for Tool {
    const MEMBERS: &'static [&'static str] = &["type", "function", "custom"];
    const TYPES: usize = 2;
    const WHAT: &'static str = "a tool";
    const FLAT: bool = true;

    fn tag(&self) -> Option<&'static str> {
        self.tool.as_ref().map(|tool| match tool {
            tool::Tool::Function(_) => "function",
            tool::Tool::Custom(_) => "custom",
        })
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, name: &'static str, map: &mut A) -> Result<bool, A::Error> {
        let tool = match name {
            "function" => value(map)?.map(tool::Tool::Function),
            _ => value(map)?.map(tool::Tool::Custom),
        };
        Ok(fill(&mut self.tool, tool))
    }

    fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.tool {
            None => Ok(()),
            Some(tool::Tool::Function(function)) => entry(map, "function", function),
            Some(tool::Tool::Custom(custom)) => entry(map, "custom", custom),
        }
    }

    fn extra(&mut self) -> &mut String {
        &mut self.extra
    }
}

impl Tagged for ToolCall {
    const MEMBERS: &'static [&'static str] = &["type", "function", "custom", "id", "extra_content"];
    const TYPES: usize = 2;
    const WHAT: &'static str = "a call";

    fn tag(&self) -> Option<&'static str> {
        self.call.as_ref().map(|call| match call {
            Call::Function(_) => "function",
            Call::Custom(_) => "custom",
        })
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, name: &'static str, map: &mut A) -> Result<bool, A::Error> {
        let call = match name {
            "id" => {
                self.id = value(map)?.unwrap_or_default();
                return Ok(false);
            }
            "extra_content" => {
                let text: Option<Box<RawValue>> = value(map)?;
                self.extra_content = text.map(|text| text.get().to_owned()).unwrap_or_default();
                return Ok(false);
            }
            "function" => value(map)?.map(Call::Function),
            _ => value(map)?.map(Call::Custom),
        };
        Ok(fill(&mut self.call, call))
    }

    fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.id.is_empty() {
            map.serialize_entry("id", &self.id)?;
        }
        match &self.call {
            None => {}
            Some(Call::Function(function)) => entry(map, "function", function)?,
            Some(Call::Custom(custom)) => entry(map, "custom", custom)?,
        }
        if !self.extra_content.is_empty() {
            map.serialize_entry("extra_content", &raw::Raw(&self.extra_content))?;
        }
        Ok(())
    }

    fn extra(&mut self) -> &mut String {
        &mut self.extra
    }
}

impl Tagged for ToolChoice {
    const MEMBERS: &'static [&'static str] = &["type", "function", "custom", "allowed_tools"];
    const TYPES: usize = 3;
    const WHAT: &'static str = "a choice of tools";
    const FLAT: bool = true;

    fn tag(&self) -> Option<&'static str> {
        self.choice.as_ref().and_then(|choice| match choice {
            Choice::Mode(_) => None,
            Choice::Function(_) => Some("function"),
            Choice::Custom(_) => Some("custom"),
            Choice::AllowedTools(_) => Some("allowed_tools"),
        })
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, name: &'static str, map: &mut A) -> Result<bool, A::Error> {
        let choice = match name {
            "function" => value(map)?.map(Choice::Function),
            "custom" => value(map)?.map(Choice::Custom),
            _ => value(map)?.map(Choice::AllowedTools),
        };
        Ok(fill(&mut self.choice, choice))
    }

    fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.choice {
            None | Some(Choice::Mode(_)) => Ok(()),
            Some(Choice::Function(named)) => entry(map, "function", named),
            Some(Choice::Custom(named)) => entry(map, "custom", named),
            Some(Choice::AllowedTools(allowed)) => entry(map, "allowed_tools", allowed),
        }
    }

    fn extra(&mut self) -> &mut String {
        &mut self.extra
    }

    fn of_text(mode: &str) -> Option<Self> {
        Some(Self { choice: Some(Choice::Mode(mode.to_owned())), ..Self::default() })
    }

    fn text(&self) -> Option<&str> {
        if let Some(Choice::Mode(mode)) = &self.choice { Some(mode) } else { None }
    }
}
