//! The golden files that `tests/clients/protojson/corpus.py` wrote, and the messages in them by name.
//! Knows no expectations; the tests in `protojson` hold them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use agena::proto::json::{self, BadJson, Unprintable};
use agena::proto::schema::Schema;
use agena::proto::{a2a, devtool, rpc};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;

use crate::probe::pb;

/// A message that Python printed.
#[derive(Deserialize)]
pub struct Printed {
    pub case: String,
    pub message: String,
    wire: String,
    /// Not there if Python refuses. Never `null`, as no message in the corpus prints as that.
    pub json: Option<Value>,
}

/// A text that Python read.
#[derive(Deserialize)]
pub struct Read {
    pub case: String,
    pub message: String,
    text: Option<String>,
    base64: Option<String>,
    /// Not there if Python refuses.
    wire: Option<String>,
}

impl Printed {
    pub fn wire(&self) -> Vec<u8> {
        unbase64(&self.wire)
    }
}

impl Read {
    pub fn text(&self) -> Vec<u8> {
        match (&self.text, &self.base64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(encoded)) => unbase64(encoded),
            _ => panic!("{}: one of text and base64 must be there", self.case),
        }
    }

    pub fn wire(&self) -> Option<Vec<u8>> {
        self.wire.as_deref().map(unbase64)
    }
}

pub static ENCODE: LazyLock<Vec<Printed>> =
    LazyLock::new(|| lines(include_str!("../../golden/protojson/encode.jsonl")));
pub static DECODE: LazyLock<Vec<Read>> =
    LazyLock::new(|| lines(include_str!("../../golden/protojson/decode.jsonl")));

fn lines<'a, T: Deserialize<'a>>(file: &'a str) -> Vec<T> {
    file.lines().map(|line| serde_json::from_str(line).expect("corpus.py writes JSON")).collect()
}

fn unbase64(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).expect("corpus.py writes base64")
}

/// What the server can do with one type of message.
#[derive(Clone, Copy)]
pub struct Codec {
    /// Protobuf to JSON.
    pub print: fn(&[u8]) -> Result<Value, Unprintable>,
    /// JSON to protobuf.
    pub read: fn(&[u8]) -> Result<Vec<u8>, BadJson>,
    /// The same message with its map entries in order. None if it is nested deeper than prost reads.
    pub tidy: fn(&[u8]) -> Option<Vec<u8>>,
}

pub fn codec(message: &str) -> Codec {
    *CODECS.get(message).unwrap_or_else(|| panic!("{message} is not in the table"))
}

static CODECS: LazyLock<BTreeMap<String, Codec>> = LazyLock::new(|| {
    BTreeMap::from([
        entry::<pb::Kinds>(),
        entry::<a2a::AgentCard>(),
        entry::<a2a::GetTaskRequest>(),
        entry::<a2a::ListTasksRequest>(),
        entry::<a2a::ListTasksResponse>(),
        entry::<a2a::Message>(),
        entry::<a2a::Part>(),
        entry::<a2a::SendMessageRequest>(),
        entry::<a2a::SendMessageResponse>(),
        entry::<a2a::StreamResponse>(),
        entry::<a2a::Task>(),
        entry::<a2a::TaskPushNotificationConfig>(),
        entry::<devtool::ConfirmationRequest>(),
        entry::<devtool::DevelopmentToolEvent>(),
        entry::<devtool::ExecuteSlashCommandRequest>(),
        entry::<devtool::ExecuteSlashCommandResponse>(),
        entry::<devtool::GetAllSlashCommandsResponse>(),
        entry::<devtool::ListRulesResponse>(),
        entry::<devtool::StartTaskRequest>(),
        entry::<devtool::TaskUpdate>(),
        entry::<devtool::ToolCall>(),
        entry::<devtool::ToolCallConfirmation>(),
        entry::<rpc::Status>(),
    ])
});

fn entry<T: Schema>() -> (String, Codec) {
    (T::full_name(), Codec { print: print::<T>, read: read::<T>, tidy: tidy::<T> })
}

fn print<T: Schema>(wire: &[u8]) -> Result<Value, Unprintable> {
    let mut out = Vec::new();
    json::encode(&T::decode(wire).expect("Python writes protobuf"), &mut out)?;
    Ok(serde_json::from_slice(&out).expect("what is printed is JSON"))
}

fn read<T: Schema>(text: &[u8]) -> Result<Vec<u8>, BadJson> {
    json::decode::<T>(text).map(|message| message.encode_to_vec())
}

fn tidy<T: Schema>(wire: &[u8]) -> Option<Vec<u8>> {
    T::decode(wire).ok().map(|message| message.encode_to_vec())
}
