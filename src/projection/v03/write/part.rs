//! A part with its kind. Names and media types have a place in files only, and data must be an object. The other
//! views call it.

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Show;
use super::members::Members;
use crate::projection::v03::names::{VALUE, WRAPPED};
use crate::proto::a2a::Part;
use crate::proto::a2a::part::Content;
use crate::proto::wkt::{Kind, Struct, Value};

impl Show for Part {
    fn show<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let metadata = self.metadata.as_ref();
        match &self.content {
            Some(Content::Text(text)) => show(to, "text", text, metadata),
            Some(Content::Raw(bytes)) => show(to, "file", &File(self, "bytes", Base64(bytes)), metadata),
            Some(Content::Url(url)) => show(to, "file", &File(self, "uri", url), metadata),
            Some(Content::Data(Value { kind: Some(Kind::Struct(data)) })) => show(to, "data", data, metadata),
            Some(Content::Data(other)) => show(to, "data", &Wrapped(other), Some(Marked(metadata))),
            // 0.3 has no part without a kind.
            None => show(to, "text", "", metadata),
        }
    }
}

/// The kind of a part is also the name of the member with its content.
fn show<S: Serializer, T: Serialize + ?Sized>(
    to: S,
    kind: &'static str,
    content: &T,
    metadata: Option<impl Serialize>,
) -> Result<S::Ok, S::Error> {
    Members::begin(to)?.put("kind", kind)?.put(kind, content)?.some("metadata", metadata)?.end()
}

/// The part of a file, and under which name its content stands.
struct File<'a, T>(&'a Part, &'static str, T);

impl<T: Serialize> Serialize for File<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?
            .put(self.1, &self.2)?
            .text("mimeType", &self.0.media_type)?
            .text("name", &self.0.filename)?
            .end()
    }
}

struct Base64<'a>(&'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// A value that is no object, in one.
struct Wrapped<'a>(&'a Value);

impl Serialize for Wrapped<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Members::begin(to)?.put(VALUE, self.0)?.end()
    }
}

/// The metadata of a part whose data is wrapped.
struct Marked<'a>(Option<&'a Struct>);

impl Serialize for Marked<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        let fields = self.0.into_iter().flat_map(|metadata| &metadata.fields);
        for (key, value) in fields.filter(|(key, _)| *key != WRAPPED) {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry(WRAPPED, &true)?;
        map.end()
    }
}
