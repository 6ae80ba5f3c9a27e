//! Statuses that nobody gave details: tonic's own, those of generated stubs, and bare codes of a service. Each gets
//! an ErrorInfo here, and tonic's get our words, so that clients need not know who made them.

use prost::Message;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use super::{AGENA, Cause, Error, code_name};
use crate::proto::rpc;
use crate::proto::wkt::Any;

/// What the stubs of tonic's generator say.
const STUB: &str = "Not yet implemented";
/// How tonic says that a message is too large as it came, and once it is unpacked.
const TOO_LARGE: [(&str, &str); 2] = [
    ("Error, decoded message length too large: ", "the limit is: "),
    ("Error decompressing: size limit", ", of "),
];

/// The status with details. `rpc` is what was called, as `package.Service/Method`.
pub fn complete(status: Status, rpc: &str) -> Status {
    if !status.details().is_empty() && status.code() != Code::Ok {
        return status;
    }
    let complete = match of_tonic(&status, rpc) {
        Some(error) => error.into(),
        None => with_code_as_reason(&status),
    };
    with_metadata(complete, status.metadata().clone())
}

fn of_tonic(status: &Status, rpc: &str) -> Option<Error> {
    let unknown = |problem: String| Some(Error::new(Cause::MethodUnknown, problem).with("method", rpc));
    match (status.code(), status.message()) {
        // Without an answer beside it, a client would wait for one or take nothing for success.
        (Code::Ok, _) => Some(Error::new(Cause::Internal, "the server failed without saying why")),
        (Code::Unimplemented, "") => {
            unknown(format!("no method is called {rpc} here; reflection lists those that are"))
        }
        (Code::Unimplemented, STUB) => {
            unknown(format!("{rpc} is declared, and this server does not implement it"))
        }
        (Code::OutOfRange | Code::ResourceExhausted, text) => {
            let limit = limit(text)?;
            Some(Error::new(Cause::BodyTooLarge, format!("the message is larger than {limit} bytes")))
        }
        _ => None,
    }
}

/// The number of bytes that a message may have, if that is what the text complains of.
fn limit(text: &str) -> Option<u64> {
    let (_, before) = TOO_LARGE.iter().find(|(start, _)| text.starts_with(start))?;
    text.split_once(before)?.1.split_once(" bytes")?.0.parse().ok()
}

/// A service that says nothing but a code means just that code.
fn with_code_as_reason(status: &Status) -> Status {
    let (code, message) = (status.code(), status.message().to_owned());
    let info = rpc::ErrorInfo {
        reason: code_name(code).to_owned(),
        domain: AGENA.to_owned(),
        ..rpc::ErrorInfo::default()
    };
    let details =
        rpc::Status { code: code.into(), message: message.clone(), details: vec![Any::pack(&info)] };
    Status::with_details(code, message, details.encode_to_vec().into())
}

fn with_metadata(mut status: Status, metadata: MetadataMap) -> Status {
    *status.metadata_mut() = metadata;
    status
}

#[cfg(test)]
mod tests {
    use super::super::Wire;
    use super::*;

    #[test]
    fn what_tonic_says_is_said_in_our_words() {
        let large = "Error, decoded message length too large: found 70 bytes, the limit is: 64 bytes";
        let unpacked = "Error decompressing: size limit, of 64 bytes, exceeded while decompressing message";
        for (status, cause, message) in [
            (Status::unimplemented(""), Cause::MethodUnknown, "no method is called p.S/M here"),
            (Status::unimplemented(STUB), Cause::MethodUnknown, "p.S/M is declared"),
            (Status::out_of_range(large), Cause::BodyTooLarge, "the message is larger than 64 bytes"),
            (
                Status::resource_exhausted(unpacked),
                Cause::BodyTooLarge,
                "the message is larger than 64 bytes",
            ),
        ] {
            let complete = complete(status, "p.S/M");
            assert_eq!(Wire::of(&complete), cause.wire());
            assert!(complete.message().starts_with(message), "{}", complete.message());
        }
    }

    #[test]
    fn a_bare_code_is_its_own_reason_and_keeps_its_wire() {
        for code in (1..=16).map(Code::from) {
            let mut bare = Status::new(code, "why");
            bare.metadata_mut().insert("x-more", "1".parse().unwrap());
            let complete = complete(bare.clone(), "p.S/M");
            assert_eq!((complete.code(), complete.message()), (code, "why"));
            let (was, is) = (Wire::of(&bare), Wire::of(&complete));
            assert_eq!((is.grpc, is.http, is.reason), (was.grpc, was.http, was.reason));
            assert!(complete.metadata().contains_key("x-more") && !complete.details().is_empty());
        }
    }

    #[test]
    fn what_has_details_stays_as_it_is_and_no_error_is_one() {
        let ours = Status::from(Error::new(Cause::Busy, "later"));
        assert_eq!(complete(ours.clone(), "").details(), ours.details());
        assert_eq!(complete(Status::ok(""), "").code(), Code::Internal);
    }
}
