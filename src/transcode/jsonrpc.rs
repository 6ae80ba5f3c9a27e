//! The JSON-RPC 2.0 envelope: taken off a request, put around answers. Pure; knows no method and no dialect.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tonic::Status;

use crate::domain::error::{Cause, Error, Wire, complete, details};
use crate::proto::json;
use crate::proto::wkt::Any;

/// A call as it stands in its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    pub id: Id,
    pub method: String,
    /// Their JSON, unread; nothing if there are none.
    pub params: String,
}

/// Given back as it came: a string stays a string and a number a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id(String);

impl Id {
    pub fn text(id: &str) -> Self {
        Self(serde_json::Value::from(id).to_string())
    }

    /// Of a request whose id cannot be read.
    pub fn null() -> Self {
        Self("null".to_owned())
    }
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    /// `null` is an id too, if not a good one.
    #[serde(borrow, default, deserialize_with = "there")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Envelope {
    /// With the id of the request as far as it could be read.
    pub fn parse(text: &[u8]) -> Result<Self, (Id, Error)> {
        let raw: Raw<'_> = serde_json::from_slice(text).map_err(|_| (Id::null(), unreadable(text)))?;
        let id = raw.id.map_or_else(|| Some(Id::null()), id);
        let invalid = |problem: &str| Error::new(Cause::InvalidRequest, problem);
        let Some(id) = id else { return Err((Id::null(), invalid("id must be a string, a number or null"))) };
        if raw.jsonrpc.and_then(string).as_deref() != Some("2.0") {
            return Err((id, invalid("jsonrpc must be \"2.0\"")));
        }
        let Some(method) = raw.method.and_then(string).filter(|method| !method.is_empty()) else {
            return Err((id, invalid("method must be a string that is not empty")));
        };
        let params = raw.params.map(|params| params.get().to_owned()).unwrap_or_default();
        if !(params.is_empty() || params.starts_with('{') || params == "null") {
            return Err((id, Error::field("params", "must be an object")));
        }
        Ok(Self { id, method, params })
    }
}

fn there<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn id(raw: &RawValue) -> Option<Id> {
    let text = raw.get();
    let plain =
        text == "null" || text.starts_with(['"', '-']) || text.starts_with(|c: char| c.is_ascii_digit());
    plain.then(|| Id(text.to_owned()))
}

/// JSON that is no envelope, or no JSON at all.
fn unreadable(text: &[u8]) -> Error {
    match json::parse(text) {
        Ok(_) => {
            Error::new(Cause::InvalidRequest, "the body is not a JSON-RPC request; batches are not taken")
        }
        Err(bad) => Error::new(Cause::Malformed, format!("the request cannot be read: {bad}")),
    }
}

/// `{"jsonrpc":"2.0","id":...,"result":...}` around what `write` appends.
pub fn result(
    id: &Id,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Status>,
) -> Result<(), Status> {
    envelope(id, "result", out, write)
}

/// The same with an error.
pub fn error(id: &Id, out: &mut Vec<u8>, object: &[u8]) {
    // What is only copied cannot fail.
    let _ = envelope(id, "error", out, |out| {
        out.extend_from_slice(object);
        Ok(())
    });
}

fn envelope(
    id: &Id,
    member: &str,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Status>,
) -> Result<(), Status> {
    let start = out.len();
    out.extend_from_slice(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{member}\":", id.0).as_bytes());
    if let Err(status) = write(out) {
        out.truncate(start);
        return Err(status);
    }
    out.push(b'}');
    Ok(())
}

/// The details are an array, each with its type.
#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<Any>,
}

/// The member `error` of an answer, as 1.0 has it.
pub fn object(status: &Status) -> Vec<u8> {
    let status = &complete(status.clone(), "");
    let data = details(status).map(|details| details.details).unwrap_or_default();
    let object = ErrorObject { code: Wire::of(status).jsonrpc, message: status.message(), data };
    serde_json::to_vec(&object)
        .unwrap_or_else(|_| br#"{"code":-32603,"message":"the error cannot be written"}"#.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_taken_off_and_its_id_kept_as_it_is() {
        for (text, id, params) in [
            (r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"b":1}}"#, r#""a""#, r#"{"b":1}"#),
            (r#"{"method":"m","id":-7,"jsonrpc":"2.0"}"#, "-7", ""),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m","params":null,"more":[]}"#, "null", ""),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "null", ""),
        ] {
            let envelope = Envelope::parse(text.as_bytes()).unwrap();
            assert_eq!((envelope.id.0.as_str(), envelope.params.as_str()), (id, params), "{text}");
        }
    }

    #[test]
    fn what_is_no_call_has_its_code_and_its_id_if_there_is_one() {
        for (text, id, code) in [
            ("{", "null", -32700),
            ("[]", "null", -32600),
            ("5", "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, "1", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "1", -32600),
            (r#"{"jsonrpc":2,"id":1,"method":"m"}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, "1", -32602),
        ] {
            let (seen, error) = Envelope::parse(text.as_bytes()).unwrap_err();
            assert_eq!((seen.0.as_str(), Wire::of(&error.into()).jsonrpc), (id, code), "{text}");
        }
    }

    #[test]
    fn a_bare_status_has_its_code_as_reason() {
        let text = String::from_utf8(object(&Status::unavailable("later"))).unwrap();
        assert!(text.starts_with(r#"{"code":-32603,"message":"later","data":[{"#), "{text}");
        assert!(text.contains(r#""reason":"UNAVAILABLE""#), "{text}");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let mut out = b"before".to_vec();
        assert!(result(&Id::null(), &mut out, |_| Err(Status::internal("no"))).is_err());
        error(&Id("7".to_owned()), &mut out, b"{}");
        assert_eq!(out, br#"before{"jsonrpc":"2.0","id":7,"error":{}}"#);
    }
}
