//! Messages and parts, both ways. Knows nothing of tasks; answers and requests use it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::each;
use crate::projection::v03::names::VALUE;
use crate::proto::a2a::part::Content;
use crate::proto::wkt::{Kind, Struct, Value};
use crate::proto::{a2a, a2a_v03};

impl From<a2a::Message> for a2a_v03::Message {
    fn from(message: a2a::Message) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            // The numbers of roles and states are the same in both.
            role: message.role,
            content: each(message.parts),
            metadata: message.metadata,
            extensions: message.extensions,
        }
    }
}

impl From<a2a_v03::Message> for a2a::Message {
    fn from(message: a2a_v03::Message) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role,
            parts: each(message.content),
            metadata: message.metadata,
            extensions: message.extensions,
            reference_task_ids: Vec::new(),
        }
    }
}

impl From<a2a::Part> for a2a_v03::Part {
    fn from(part: a2a::Part) -> Self {
        use a2a_v03::file_part::File;
        use a2a_v03::part::Part;
        let file = |file| Part::File(a2a_v03::FilePart { file: Some(file), mime_type: part.media_type });
        let part = part.content.map(|content| match content {
            Content::Text(text) => Part::Text(text),
            Content::Raw(bytes) => file(File::FileWithBytes(STANDARD.encode(bytes).into())),
            Content::Url(url) => file(File::FileWithUri(url)),
            Content::Data(data) => Part::Data(a2a_v03::DataPart { data: Some(object(data)) }),
        });
        Self { part }
    }
}

impl From<a2a_v03::Part> for a2a::Part {
    fn from(part: a2a_v03::Part) -> Self {
        use a2a_v03::part::Part;
        match part.part {
            Some(Part::Text(text)) => content(Content::Text(text)),
            Some(Part::File(file)) => Self::from(file),
            Some(Part::Data(data)) => {
                content(Content::Data(Kind::Struct(data.data.unwrap_or_default()).into()))
            }
            None => Self::default(),
        }
    }
}

impl From<a2a_v03::FilePart> for a2a::Part {
    fn from(file: a2a_v03::FilePart) -> Self {
        use a2a_v03::file_part::File;
        let content = file.file.map(|file| match file {
            File::FileWithBytes(bytes) => Content::Raw(plain(bytes)),
            File::FileWithUri(uri) => Content::Url(uri),
        });
        Self { content, media_type: file.mime_type, ..Self::default() }
    }
}

/// The field holds bytes, but the SDKs of 0.3 for Python, Go and Java put the base64 of their JSON into it, and the
/// first of them fails on a whole task if it finds anything else. So that is what is written. Others send the bytes
/// themselves, which are hardly ever base64 by accident.
fn plain(bytes: Bytes) -> Bytes {
    STANDARD.decode(&bytes).map(Into::into).unwrap_or(bytes)
}

fn content(content: Content) -> a2a::Part {
    a2a::Part { content: Some(content), ..a2a::Part::default() }
}

/// 0.3 has objects only. There is no metadata here that could say that a value was wrapped.
fn object(data: Value) -> Struct {
    match data.kind {
        Some(Kind::Struct(object)) => object,
        _ => Struct { fields: [(VALUE.to_owned(), data)].into() },
    }
}
