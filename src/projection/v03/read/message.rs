//! A message and its parts. A part says its kind, or shows it by the member that it has. Knows no method; the reader
//! calls it.

use serde_json::Value;

use super::Read;
use super::object::{Object, filled, metadata, text, texts};
use crate::projection::v03::names::{self, VALUE, WRAPPED};
use crate::proto::a2a::part::Content;
use crate::proto::a2a::{Message, Part, Role};
use crate::proto::json::{self, BadJson};
use crate::proto::wkt::{self, Kind, Struct};

pub fn message(value: Value) -> Read<Message> {
    let mut from = Object::of(value)?;
    Ok(Message {
        message_id: from.need("messageId", filled)?,
        context_id: from.take("contextId", text)?.unwrap_or_default(),
        task_id: from.take("taskId", text)?.unwrap_or_default(),
        role: from.need("role", role)?.into(),
        parts: from.need("parts", parts)?,
        metadata: from.take("metadata", metadata)?,
        extensions: from.take("extensions", texts)?.unwrap_or_default(),
        reference_task_ids: from.take("referenceTaskIds", texts)?.unwrap_or_default(),
    })
}

fn role(value: Value) -> Read<Role> {
    let name = text(value)?;
    names::role_of(&name)
        .ok_or_else(|| BadJson::whole(format_args!("must be \"user\" or \"agent\", not {name:?}")))
}

fn parts(value: Value) -> Read<Vec<Part>> {
    let Value::Array(items) = value else { return Err(BadJson::whole("must be an array")) };
    if items.is_empty() {
        return Err(BadJson::whole("must have at least one part"));
    }
    let read = |(index, item)| part(item).map_err(|bad| bad.below(&format!("[{index}]")));
    items.into_iter().enumerate().map(read).collect()
}

type Reader = fn(&mut Object, &mut Part) -> Read<Content>;

/// The member that shows what a part is, and how it is read. The first three are the kinds of 0.3; the others come
/// from clients that are halfway to 1.0.
const SHAPES: [(&str, Reader); 5] = [
    ("text", |from, _| from.need("text", text).map(Content::Text)),
    ("file", |from, part| from.need("file", |value| file(value, part))),
    ("data", data),
    ("raw", |from, _| from.need("raw", |value| json::bytes(&value)).map(Content::Raw)),
    ("url", |from, _| from.need("url", text).map(Content::Url)),
];
const KINDS: usize = 3;

fn part(value: Value) -> Read<Part> {
    let mut from = Object::of(value)?;
    let read = shape(&mut from)?;
    let mut part = Part {
        metadata: from.take("metadata", metadata)?,
        filename: from.take("filename", text)?.unwrap_or_default(),
        media_type: from.take("mediaType", text)?.unwrap_or_default(),
        content: None,
    };
    part.content = Some(read(&mut from, &mut part)?);
    Ok(part)
}

/// By `kind`, which was called `type` before 0.2.2, or by the one member that is there.
fn shape(from: &mut Object) -> Read<Reader> {
    if let Some(read) = from.any(&["kind", "type"], kind)? {
        return Ok(read);
    }
    let mut shown = SHAPES.iter().filter(|(member, _)| from.has(member));
    match (shown.next(), shown.next()) {
        (Some((_, read)), None) => Ok(*read),
        (None, _) => Err(BadJson::whole("must have a kind and one of text, file or data")),
        (Some((one, _)), Some((other, _))) => {
            Err(BadJson::whole(format_args!("has both {one} and {other}, and no kind to choose")))
        }
    }
}

fn kind(value: Value) -> Read<Reader> {
    let kind = text(value)?;
    let found = SHAPES.iter().take(KINDS).find(|(name, _)| *name == kind);
    found
        .map(|(_, read)| *read)
        .ok_or_else(|| BadJson::whole(format_args!("must be \"text\", \"file\" or \"data\", not {kind:?}")))
}

/// Also under the names of 0.3's protobuf, which some clients print as JSON.
fn file(value: Value, part: &mut Part) -> Read<Content> {
    let mut from = Object::of(value)?;
    let bytes = from.any(&["bytes", "fileWithBytes"], |value| json::bytes(&value))?;
    let uri = from.any(&["uri", "fileWithUri"], text)?;
    if let Some(name) = from.take("name", text)? {
        part.filename = name;
    }
    if let Some(media_type) = from.any(&["mimeType", "mediaType"], text)? {
        part.media_type = media_type;
    }
    match (bytes, uri) {
        (Some(bytes), None) => Ok(Content::Raw(bytes)),
        (None, Some(uri)) => Ok(Content::Url(uri)),
        (None, None) => Err(BadJson::whole("must have bytes or uri")),
        (Some(_), Some(_)) => Err(BadJson::whole("must not have both bytes and uri")),
    }
}

/// An object, or a value of another kind that a translator has wrapped and marked.
fn data(from: &mut Object, part: &mut Part) -> Read<Content> {
    let mut data: Struct = from.need("data", json::typed)?;
    let wrapped = take_mark(&mut part.metadata).then(|| data.fields.remove(VALUE)).flatten();
    Ok(Content::Data(wrapped.unwrap_or_else(|| Kind::Struct(data).into())))
}

/// Whether the mark is there. It goes, and with it metadata that held nothing else.
fn take_mark(metadata: &mut Option<Struct>) -> bool {
    let marked = wkt::Value::from(Kind::Bool(true));
    let Some(members) = metadata.as_mut().filter(|m| m.fields.get(WRAPPED) == Some(&marked)) else {
        return false;
    };
    members.fields.remove(WRAPPED);
    if members.fields.is_empty() {
        *metadata = None;
    }
    true
}
