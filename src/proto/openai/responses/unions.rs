//! Items, parts, tools, choices and events by their types, and what is a text or a list.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::flat::{self, Flat, flat, payload};
use crate::proto::openai::response_event::Event;
use crate::proto::openai::{
    Item, ItemContent, ItemPart, ItemParts, Items, ResponseEvent, ResponseInput, ResponseTool,
    ResponseToolChoice, item_content, response_input, response_tool_choice,
};
use crate::proto::vendor::{Members, raw};

flat!(Item, item, crate::proto::openai::item::Item, "an item", {
    "message" => Message,
    "reasoning" => Reasoning,
    "function_call" => FunctionCall,
    "function_call_output" => FunctionCallOutput,
    "custom_tool_call" => CustomToolCall,
    "custom_tool_call_output" => CustomToolCallOutput,
    "item_reference" => ItemReference,
    "web_search_call" => WebSearchCall,
    "code_interpreter_call" => CodeInterpreterCall,
    "image_generation_call" => ImageGenerationCall,
    "local_shell_call" => LocalShellCall,
    "local_shell_call_output" => LocalShellCallOutput,
    "shell_call" => ShellCall,
    "shell_call_output" => ShellCallOutput,
    "apply_patch_call" => ApplyPatchCall,
    "apply_patch_call_output" => ApplyPatchCallOutput,
    "additional_tools" => AdditionalTools,
}
    /// A message is known by its role, and an id alone refers to an item.
    fn untyped(members: &Members) -> Option<&'static str> {
        let has = |name: &str| members.0.iter().any(|(member, _)| member == name);
        if has("role") { Some("message") } else { has("id").then_some("item_reference") }
    }
);

flat!(ItemPart, part, crate::proto::openai::item_part::Part, "a part", {
    "input_text" => InputText,
    "input_image" => InputImage,
    "input_file" => InputFile,
    "input_audio" => InputAudio,
    "output_text" => OutputText,
    "refusal" => Refusal,
    "summary_text" => SummaryText,
    "reasoning_text" => ReasoningText,
    "text" => Text,
});

flat!(ResponseTool, tool, crate::proto::openai::response_tool::Tool, "a tool", {
    "function" => Function,
    "custom" => Custom,
    "namespace" => Namespace,
});

flat!(ResponseToolChoice, choice, response_tool_choice::Choice, "a choice of tools", {
    "function" => Function,
    "custom" => Custom,
    "allowed_tools" => AllowedTools,
});

macro_rules! by_type {
    ($($message:ty),+) => {$(
        impl Serialize for $message {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                flat::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $message {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                flat::deserialize(deserializer)
            }
        }
    )+};
}
by_type!(Item, ItemPart, ResponseTool);

impl Serialize for ResponseToolChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.choice {
            Some(response_tool_choice::Choice::Mode(mode)) => serializer.serialize_str(mode),
            _ => flat::serialize(self, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ResponseToolChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        let read = match raw.get().starts_with('"') {
            true => payload(raw.get()).map(|mode| Self {
                choice: Some(response_tool_choice::Choice::Mode(mode)),
                ..Self::default()
            }),
            false => flat::read_text(raw.get()),
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// What is a text or a list.
trait TextOrList: Sized {
    type Item;

    fn of_text(text: String) -> Self;

    fn of_list(list: Vec<Self::Item>) -> Self;
}

struct TextOrListVisitor<T>(PhantomData<T>);

impl<'de, T: TextOrList<Item: Deserialize<'de>>> Visitor<'de> for TextOrListVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list")
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(T::of_list(list))
    }
}

impl TextOrList for ResponseInput {
    type Item = Item;

    fn of_text(text: String) -> Self {
        Self { input: Some(response_input::Input::Text(text)) }
    }

    fn of_list(items: Vec<Item>) -> Self {
        Self { input: Some(response_input::Input::Items(Items { items })) }
    }
}

impl TextOrList for ItemContent {
    type Item = ItemPart;

    fn of_text(text: String) -> Self {
        Self { content: Some(item_content::Content::Text(text)) }
    }

    fn of_list(parts: Vec<ItemPart>) -> Self {
        Self { content: Some(item_content::Content::Parts(ItemParts { parts })) }
    }
}

impl<'de> Deserialize<'de> for ResponseInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrListVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for ItemContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrListVisitor(PhantomData))
    }
}

impl Serialize for ResponseInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.input {
            None => serializer.serialize_none(),
            Some(response_input::Input::Text(text)) => serializer.serialize_str(text),
            Some(response_input::Input::Items(items)) => items.items.serialize(serializer),
        }
    }
}

impl Serialize for ItemContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            None => serializer.serialize_none(),
            Some(item_content::Content::Text(text)) => serializer.serialize_str(text),
            Some(item_content::Content::Parts(parts)) => parts.parts.serialize(serializer),
        }
    }
}

/// The type of an event and its members, out of one list.
macro_rules! events {
    ($($tag:literal => $variant:ident),+ $(,)?) => {
        impl ResponseEvent {
            /// As the vendor names it.
            pub fn kind(&self) -> &'static str {
                match &self.event {
                    None => "",
                    $(Some(Event::$variant(_)) => $tag,)+
                }
            }

            fn members(&self) -> serde_json::Result<String> {
                match &self.event {
                    None => Ok("{}".to_owned()),
                    $(Some(Event::$variant(held)) => serde_json::to_string(held),)+
                }
            }

            fn of(kind: &str, members: &str) -> Result<Option<Event>, String> {
                Ok(Some(match kind {
                    $($tag => payload(members).map(Event::$variant)?,)+
                    _ => return Ok(None),
                }))
            }
        }
    };
}
events! {
    "response.created" => Created,
    "response.queued" => Queued,
    "response.in_progress" => InProgress,
    "response.completed" => Completed,
    "response.incomplete" => Incomplete,
    "response.failed" => Failed,
    "response.output_item.added" => OutputItemAdded,
    "response.output_item.done" => OutputItemDone,
    "response.content_part.added" => ContentPartAdded,
    "response.content_part.done" => ContentPartDone,
    "response.output_text.delta" => OutputTextDelta,
    "response.output_text.done" => OutputTextDone,
    "response.output_text.annotation.added" => OutputTextAnnotationAdded,
    "response.refusal.delta" => RefusalDelta,
    "response.refusal.done" => RefusalDone,
    "response.reasoning_summary_part.added" => ReasoningSummaryPartAdded,
    "response.reasoning_summary_part.done" => ReasoningSummaryPartDone,
    "response.reasoning_summary_text.delta" => ReasoningSummaryTextDelta,
    "response.reasoning_summary_text.done" => ReasoningSummaryTextDone,
    "response.function_call_arguments.delta" => FunctionCallArgumentsDelta,
    "response.function_call_arguments.done" => FunctionCallArgumentsDone,
    "response.custom_tool_call_input.delta" => CustomToolCallInputDelta,
    "response.custom_tool_call_input.done" => CustomToolCallInputDone,
    "response.web_search_call.in_progress" => WebSearchCallInProgress,
    "response.web_search_call.searching" => WebSearchCallSearching,
    "response.web_search_call.completed" => WebSearchCallCompleted,
    "response.code_interpreter_call.in_progress" => CodeInterpreterCallInProgress,
    "response.code_interpreter_call_code.delta" => CodeInterpreterCallCodeDelta,
    "response.code_interpreter_call_code.done" => CodeInterpreterCallCodeDone,
    "response.code_interpreter_call.interpreting" => CodeInterpreterCallInterpreting,
    "response.code_interpreter_call.completed" => CodeInterpreterCallCompleted,
    "response.image_generation_call.in_progress" => ImageGenerationCallInProgress,
    "response.image_generation_call.completed" => ImageGenerationCallCompleted,
}

impl Serialize for ResponseEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.members().map_err(serde::ser::Error::custom)?;
        let number = format!("\"sequence_number\":{},", self.sequence_number);
        raw::Raw(&flat::tagged(self.kind(), &number, &members)).serialize(serializer)
    }
}

/// The members of every event.
#[derive(Deserialize)]
struct Numbered {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    sequence_number: i64,
}

impl<'de> Deserialize<'de> for ResponseEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        let Numbered { kind, sequence_number } = payload(raw.get()).map_err(serde::de::Error::custom)?;
        let event = Self::of(&kind, raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { sequence_number, event })
    }
}
