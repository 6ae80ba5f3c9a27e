//! What 0.3's JSON-RPC says when a call fails. The codes are 1.0's, but for two that 0.3 does not have; `data` is free
//! there, so it holds the reason and the fields as a plain object. Knows no envelope; the JSON-RPC front prints it.

use std::collections::BTreeMap;

use serde::Serialize;
use tonic::Status;

use crate::domain::error::{Cause, Wire, details};
use crate::proto::rpc;
use crate::proto::wkt::Any;

const INVALID_REQUEST: i32 = -32600;

/// 0.3's clients know neither -32008 nor -32009. Both mean that the request has to change (announce an extension, ask
/// for another version), not that the operation is missing, so they are invalid requests rather than -32004.
pub fn code(wire: &Wire) -> i32 {
    match wire.cause {
        Cause::ExtensionSupportRequired | Cause::VersionNotSupported => INVALID_REQUEST,
        _ => wire.jsonrpc,
    }
}

/// The member `error` of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorObject {
    pub code: i32,
    pub message: String,
    pub data: Data,
}

/// What a program can tell errors apart by. The reason is the same in every dialect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    pub reason: &'static str,
    pub domain: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_violations: Vec<Violation>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    pub field: String,
    pub description: String,
}

impl From<&Status> for ErrorObject {
    fn from(status: &Status) -> Self {
        let wire = Wire::of(status);
        let details = details(status).map(|details| details.details).unwrap_or_default();
        let info = details.iter().find_map(Any::unpack::<rpc::ErrorInfo>).unwrap_or_default();
        let fields = details.iter().find_map(Any::unpack::<rpc::BadRequest>).unwrap_or_default();
        let violation =
            |v: rpc::bad_request::FieldViolation| Violation { field: v.field, description: v.description };
        let data = Data {
            reason: wire.reason,
            domain: wire.domain,
            metadata: info.metadata,
            field_violations: fields.field_violations.into_iter().map(violation).collect(),
        };
        Self { code: code(&wire), message: status.message().to_owned(), data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::error::{Error, TABLE};

    #[test]
    fn every_code_is_one_that_0_3_has() {
        for wire in TABLE {
            let code = code(&wire);
            let known = (-32603..=-32600).contains(&code) || (-32007..=-32001).contains(&code);
            assert!(known || code == -32700, "{}: {code}", wire.reason);
        }
    }

    #[test]
    fn the_reason_stays_where_the_code_cannot() {
        let error = Error::new(Cause::ExtensionSupportRequired, "needs x").with("uri", "urn:x");
        let printed = serde_json::to_string(&ErrorObject::from(&Status::from(error))).unwrap();
        assert_eq!(
            printed,
            r#"{"code":-32600,"message":"needs x","data":{"reason":"EXTENSION_SUPPORT_REQUIRED","domain":"a2a-protocol.org","metadata":{"uri":"urn:x"}}}"#
        );
    }

    #[test]
    fn fields_are_named() {
        let printed = ErrorObject::from(&Status::from(Error::field("message.parts", "is required")));
        assert_eq!(
            (printed.code, printed.data.field_violations[0].field.as_str()),
            (-32602, "message.parts")
        );
    }

    #[test]
    fn a_status_of_somebody_else_goes_by_its_code() {
        let printed = ErrorObject::from(&Status::unimplemented("no"));
        assert_eq!((printed.code, printed.data.reason), (-32601, "UNIMPLEMENTED"));
    }
}
