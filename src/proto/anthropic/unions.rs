//! What is a text or a list of blocks.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    Blocks, Content, ResultBlocks, ResultContent, SourceBlocks, SourceContent, content, result_content,
    source_content,
};

macro_rules! text_or_list {
    ($($message:ident, $module:ident, $list:ident, $visitor:ident;)+) => {$(
        impl Serialize for $message {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.kind {
                    None => serializer.serialize_none(),
                    Some($module::Kind::Text(text)) => serializer.serialize_str(text),
                    Some($module::Kind::Blocks(list)) => list.blocks.serialize(serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $message {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }

        struct $visitor;

        impl<'de> Visitor<'de> for $visitor {
            type Value = $message;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of blocks")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$message, E> {
                self.visit_string(text.to_owned())
            }

            fn visit_string<E: serde::de::Error>(self, text: String) -> Result<$message, E> {
                Ok($message { kind: Some($module::Kind::Text(text)) })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<$message, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok($message { kind: Some($module::Kind::Blocks($list { blocks })) })
            }
        }
    )+};
}

text_or_list! {
    Content, content, Blocks, ContentVisitor;
    SourceContent, source_content, SourceBlocks, SourceVisitor;
    ResultContent, result_content, ResultBlocks, ResultVisitor;
}
