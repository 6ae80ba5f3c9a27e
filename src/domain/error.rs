//! The one seam from a cause to what each protocol says of it: gRPC code, HTTP status and JSON-RPC code at
//! once, with google.rpc details that name the field. Services return it; fronts only print it.

use std::collections::BTreeMap;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};

use crate::proto::rpc;
use crate::proto::rpc::bad_request::FieldViolation;
use crate::proto::wkt::Any;

pub use bare::complete;

mod bare;

/// Whose words the reasons are.
const A2A: &str = "a2a-protocol.org";
const AGENA: &str = "agena";

/// What a cause is on every wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    pub cause: Cause,
    pub reason: &'static str,
    pub domain: &'static str,
    pub grpc: Code,
    pub http: u16,
    pub jsonrpc: i32,
}

const fn row(
    cause: Cause,
    reason: &'static str,
    domain: &'static str,
    grpc: Code,
    http: u16,
    jsonrpc: i32,
) -> Wire {
    Wire { cause, reason, domain, grpc, http, jsonrpc }
}

/// Makes the causes and their rows out of one list, so that neither can be without the other.
macro_rules! causes {
    ($($cause:ident: $reason:literal, $domain:ident, $grpc:ident, $http:literal, $jsonrpc:literal;)*) => {
        /// Everything that can go wrong and that a client can tell apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Cause {
            $($cause,)*
        }

        /// A row per cause.
        pub const TABLE: [Wire; [$(Cause::$cause),*].len()] =
            [$(row(Cause::$cause, $reason, $domain, Code::$grpc, $http, $jsonrpc)),*];

        impl Cause {
            pub fn wire(self) -> Wire {
                match self {
                    $(Self::$cause => row(self, $reason, $domain, Code::$grpc, $http, $jsonrpc),)*
                }
            }
        }
    };
}

// The table of A2A 1.0.1, then ours: the place to look when a client asks "why this code".
causes! {
    TaskNotFound: "TASK_NOT_FOUND", A2A, NotFound, 404, -32001;
    TaskNotCancelable: "TASK_NOT_CANCELABLE", A2A, FailedPrecondition, 400, -32002;
    PushNotificationNotSupported: "PUSH_NOTIFICATION_NOT_SUPPORTED", A2A, FailedPrecondition, 400, -32003;
    UnsupportedOperation: "UNSUPPORTED_OPERATION", A2A, FailedPrecondition, 400, -32004;
    ContentTypeNotSupported: "CONTENT_TYPE_NOT_SUPPORTED", A2A, InvalidArgument, 400, -32005;
    InvalidAgentResponse: "INVALID_AGENT_RESPONSE", A2A, Internal, 500, -32006;
    ExtendedAgentCardNotConfigured: "EXTENDED_AGENT_CARD_NOT_CONFIGURED", A2A, FailedPrecondition, 400, -32007;
    ExtensionSupportRequired: "EXTENSION_SUPPORT_REQUIRED", A2A, FailedPrecondition, 400, -32008;
    VersionNotSupported: "VERSION_NOT_SUPPORTED", A2A, FailedPrecondition, 400, -32009;

    InvalidArgument: "INVALID_ARGUMENT", AGENA, InvalidArgument, 400, -32602;
    Malformed: "MALFORMED_REQUEST", AGENA, InvalidArgument, 400, -32700;
    InvalidRequest: "INVALID_REQUEST", AGENA, InvalidArgument, 400, -32600;
    Unauthenticated: "UNAUTHENTICATED", AGENA, Unauthenticated, 401, -32600;
    HostNotAllowed: "HOST_NOT_ALLOWED", AGENA, PermissionDenied, 403, -32600;
    OriginNotAllowed: "ORIGIN_NOT_ALLOWED", AGENA, PermissionDenied, 403, -32600;
    RouteNotFound: "ROUTE_NOT_FOUND", AGENA, NotFound, 404, -32601;
    MethodNotAllowed: "METHOD_NOT_ALLOWED", AGENA, Unimplemented, 405, -32601;
    MediaTypeNotSupported: "MEDIA_TYPE_NOT_SUPPORTED", AGENA, InvalidArgument, 415, -32005;
    BodyTooLarge: "BODY_TOO_LARGE", AGENA, ResourceExhausted, 413, -32600;
    BodyTooSlow: "BODY_TOO_SLOW", AGENA, DeadlineExceeded, 408, -32600;
    MethodUnknown: "METHOD_UNKNOWN", AGENA, Unimplemented, 501, -32601;
    DeadlineExceeded: "DEADLINE_EXCEEDED", AGENA, DeadlineExceeded, 504, -32603;
    Stopping: "SERVER_STOPPING", AGENA, Unavailable, 503, -32603;
    TooManyConnections: "TOO_MANY_CONNECTIONS", AGENA, Unavailable, 503, -32603;
    AlreadyDecided: "ALREADY_DECIDED", AGENA, FailedPrecondition, 409, -32600;
    Busy: "BUSY", AGENA, ResourceExhausted, 429, -32603;
    ModelNotFound: "MODEL_NOT_FOUND", AGENA, NotFound, 404, -32602;
    ModelNotAllowed: "MODEL_NOT_ALLOWED", AGENA, PermissionDenied, 403, -32600;
    ModelCannot: "MODEL_CANNOT", AGENA, InvalidArgument, 400, -32602;
    ModelKeyRefused: "MODEL_KEY_REFUSED", AGENA, Unauthenticated, 401, -32603;
    ModelForbidden: "MODEL_FORBIDDEN", AGENA, PermissionDenied, 403, -32603;
    ContextTooLong: "CONTEXT_TOO_LONG", AGENA, InvalidArgument, 400, -32602;
    RateLimited: "RATE_LIMITED", AGENA, ResourceExhausted, 429, -32603;
    QuotaExhausted: "QUOTA_EXHAUSTED", AGENA, ResourceExhausted, 429, -32603;
    ModelUnavailable: "MODEL_UNAVAILABLE", AGENA, Unavailable, 503, -32603;
    ModelFailed: "MODEL_FAILED", AGENA, Internal, 500, -32603;
    ModelBroken: "MODEL_BROKEN", AGENA, Internal, 502, -32603;
    RuleNotFound: "RULE_NOT_FOUND", AGENA, NotFound, 404, -32602;
    CommandNotFound: "COMMAND_NOT_FOUND", AGENA, NotFound, 404, -32602;
    ResponseNotFound: "RESPONSE_NOT_FOUND", AGENA, NotFound, 404, -32602;
    Internal: "INTERNAL", AGENA, Internal, 500, -32603;
}

impl Wire {
    /// How a status that came out of a service goes on other wires: by its reason if it has one of ours, else
    /// by its code.
    pub fn of(status: &Status) -> Self {
        let info = details(status)
            .and_then(|details| details.details.iter().find_map(Any::unpack::<rpc::ErrorInfo>));
        let known = info.and_then(|info| {
            TABLE.into_iter().find(|row| row.reason == info.reason && row.domain == info.domain)
        });
        known.unwrap_or_else(|| Self::of_code(status.code()))
    }

    fn of_code(code: Code) -> Self {
        let (http, jsonrpc) = match code {
            Code::Ok => (200, 0),
            Code::InvalidArgument | Code::OutOfRange => (400, -32602),
            Code::FailedPrecondition => (400, -32603),
            Code::Unauthenticated => (401, -32600),
            Code::PermissionDenied => (403, -32600),
            Code::NotFound => (404, -32603),
            Code::AlreadyExists | Code::Aborted => (409, -32603),
            Code::ResourceExhausted => (429, -32603),
            Code::Cancelled => (499, -32603),
            Code::Unimplemented => (501, -32601),
            Code::Unavailable => (503, -32603),
            Code::DeadlineExceeded => (504, -32603),
            Code::Unknown | Code::Internal | Code::DataLoss => (500, -32603),
        };
        row(Cause::Internal, code_name(code), AGENA, code, http, jsonrpc)
    }
}

/// A cause with all that a client needs to mend it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    cause: Cause,
    message: String,
    violations: Vec<FieldViolation>,
    metadata: BTreeMap<String, String>,
    retry_after: Option<Duration>,
}

impl Error {
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { cause, message, violations: Vec::new(), metadata: BTreeMap::new(), retry_after: None }
    }

    /// Fields that are there and wrong, or missing. The message names the first.
    pub fn invalid(violations: Vec<FieldViolation>) -> Self {
        let first = violations.first().map(|v| format!("{}: {}", v.field, v.description));
        let more = violations.len().saturating_sub(1);
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let message = first.unwrap_or_else(|| "the request is not valid".to_owned()) + &more;
        Self { violations, ..Self::new(Cause::InvalidArgument, message) }
    }

    /// One field that is wrong.
    pub fn field(field: impl Into<String>, description: impl Into<String>) -> Self {
        let violation = FieldViolation {
            field: field.into(),
            description: description.into(),
            reason: "INVALID".to_owned(),
            localized_message: None,
        };
        Self::invalid(vec![violation])
    }

    /// A request that cannot be read at all, or not at this field.
    pub fn malformed(field: &str, problem: &str) -> Self {
        match field {
            "" => Self::new(Cause::Malformed, format!("the request cannot be read: {problem}")),
            _ => Self::field(field, problem),
        }
    }

    pub fn cause(&self) -> Cause {
        self.cause
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    fn details(&self) -> Vec<Any> {
        let Wire { reason, domain, .. } = self.cause.wire();
        let info = rpc::ErrorInfo {
            reason: reason.to_owned(),
            domain: domain.to_owned(),
            metadata: self.metadata.clone(),
        };
        let mut details = vec![Any::pack(&info)];
        if !self.violations.is_empty() {
            details.push(Any::pack(&rpc::BadRequest { field_violations: self.violations.clone() }));
        }
        if let Some(delay) = self.retry_after {
            details.push(Any::pack(&rpc::RetryInfo { retry_delay: Some(delay.into()) }));
        }
        details
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let code = error.cause.wire().grpc;
        let details =
            rpc::Status { code: code.into(), message: error.message.clone(), details: error.details() };
        Self::with_details(code, error.message, details.encode_to_vec().into())
    }
}

/// The google.rpc.Status that rides in `grpc-status-details-bin`, if there is a readable one.
pub fn details(status: &Status) -> Option<rpc::Status> {
    (!status.details().is_empty()).then(|| rpc::Status::decode(status.details()).ok()).flatten()
}

/// When another try is welcome.
pub fn retry_delay(status: &Status) -> Option<Duration> {
    let delay = details(status)?.details.iter().find_map(Any::unpack::<rpc::RetryInfo>)?.retry_delay?;
    Some(Duration::new(delay.seconds.try_into().ok()?, delay.nanos.try_into().ok()?))
}

/// The first field that is wrong.
pub fn first_field(status: &Status) -> Option<String> {
    let bad = details(status)?.details.iter().find_map(Any::unpack::<rpc::BadRequest>)?;
    bad.field_violations.into_iter().next().map(|violation| violation.field)
}

/// `NOT_FOUND`, as every other gRPC library spells it.
pub fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_survives_the_way_through_a_status() {
        for wire in TABLE {
            let status = Status::from(Error::new(wire.cause, "why"));
            assert_eq!((status.code(), status.message()), (wire.grpc, "why"));
            assert_eq!(Wire::of(&status), wire);
            assert_eq!(wire.cause.wire(), wire);
        }
    }

    #[test]
    fn no_two_causes_share_a_reason() {
        let reasons: std::collections::BTreeSet<_> = TABLE.iter().map(|w| (w.domain, w.reason)).collect();
        assert_eq!(reasons.len(), TABLE.len());
    }

    #[test]
    fn a_status_without_our_details_goes_by_its_code() {
        let wire = Wire::of(&Status::resource_exhausted("slow down"));
        assert_eq!((wire.http, wire.reason), (429, "RESOURCE_EXHAUSTED"));
    }

    #[test]
    fn the_message_names_the_first_field_and_counts_the_rest() {
        let violation = |field: &str| FieldViolation {
            field: field.to_owned(),
            description: "is required".to_owned(),
            ..FieldViolation::default()
        };
        let error = Error::invalid(vec![violation("message.parts"), violation("message.role")]);
        assert_eq!(error.to_string(), "message.parts: is required (and 1 more)");
    }
}
