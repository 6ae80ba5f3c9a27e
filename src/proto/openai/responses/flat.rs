//! What has a `type`, and its members beside it. A type that is not known here is kept as the text that stood there.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::proto::vendor::{Members, decode, raw};

/// A message with a `oneof` whose members are told apart by `type`.
pub(super) trait Flat: Sized {
    const WHAT: &'static str;

    /// The type and the members beside it, as an object; none if it holds another type.
    fn print(&self) -> Option<(&'static str, serde_json::Result<String>)>;

    /// Of the members beside the type. None if the type is not known.
    fn read(kind: &str, members: &str) -> Option<Result<Self, String>>;

    /// Of another type, as a whole.
    fn unknown(text: String) -> Self;

    fn text(&self) -> &str;

    /// What it is where nobody says so.
    fn untyped(_members: &Members) -> Option<&'static str> {
        None
    }
}

/// Makes the table of types out of one list.
macro_rules! flat {
    ($message:ident, $field:ident, $union:path, $what:literal, { $($tag:literal => $variant:ident),+ $(,)? } $($rest:item)*) => {
        impl Flat for $message {
            const WHAT: &'static str = $what;

            fn print(&self) -> Option<(&'static str, serde_json::Result<String>)> {
                use $union as Union;
                match self.$field.as_ref()? {
                    $(Union::$variant(held) => Some(($tag, serde_json::to_string(held))),)+
                    #[allow(unreachable_patterns, reason = "only choices have a member that is no type")]
                    _ => None,
                }
            }

            fn read(kind: &str, members: &str) -> Option<Result<Self, String>> {
                use $union as Union;
                let held = match kind {
                    $($tag => payload(members).map(Union::$variant),)+
                    _ => return None,
                };
                Some(held.map(|held| Self { $field: Some(held), ..Self::default() }))
            }

            fn unknown(text: String) -> Self {
                Self { extra: text, ..Self::default() }
            }

            fn text(&self) -> &str {
                &self.extra
            }

            $($rest)*
        }
    };
}
pub(super) use flat;

/// The payload of a type; what is wrong in it is told with its path.
pub(super) fn payload<T: DeserializeOwned>(members: &str) -> Result<T, String> {
    decode(members.as_bytes()).map_err(|e| e.to_string())
}

pub(super) fn deserialize<'de, T: Flat, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    read_text(raw.get()).map_err(D::Error::custom)
}

pub(super) fn read_text<T: Flat>(text: &str) -> Result<T, String> {
    let members: Members =
        serde_json::from_str(text).map_err(|_| format!("{} is an object with a type", T::WHAT))?;
    let kind = members.0.iter().find(|(name, _)| name == "type").map(|(_, value)| value.get());
    let kind: Option<String> = kind.and_then(|kind| serde_json::from_str(kind).ok()).flatten();
    let kind = kind.or_else(|| T::untyped(&members).map(str::to_owned)).unwrap_or_default();
    T::read(&kind, &untagged(&members)?).unwrap_or_else(|| Ok(T::unknown(text.to_owned())))
}

/// The members without the type, as an object.
fn untagged(members: &Members) -> Result<String, String> {
    let mut text = String::from("{");
    for (name, value) in members.0.iter().filter(|(name, _)| name != "type") {
        if text.len() > 1 {
            text.push(',');
        }
        text += &serde_json::to_string(name).map_err(|e| e.to_string())?;
        text.push(':');
        text += value.get();
    }
    text.push('}');
    Ok(text)
}

pub(super) fn serialize<T: Flat, S: Serializer>(message: &T, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::Error;
    let text = match message.print() {
        Some((tag, members)) => tagged(tag, "", &members.map_err(S::Error::custom)?),
        None if message.text().is_empty() => "{}".to_owned(),
        None => message.text().to_owned(),
    };
    raw::Raw(&text).serialize(serializer)
}

/// `{"type":...,` before the members of an object; `beside` is whole members, each with its comma.
pub(super) fn tagged(tag: &str, beside: &str, members: &str) -> String {
    match members.strip_prefix('{') {
        None | Some("}") => {
            let beside = beside.strip_suffix(',').map(|beside| format!(",{beside}")).unwrap_or_default();
            format!("{{\"type\":\"{tag}\"{beside}}}")
        }
        Some(rest) => format!("{{\"type\":\"{tag}\",{beside}{rest}"),
    }
}
