//! The content-type guard. A form or a plain-text post reaches any server without asking the browser first;
//! JSON does not. So a body that is not JSON is refused before it is read.

use http::Method;
use http::header::CONTENT_TYPE;
use http_body::Body;

use super::gate::Gate;
use super::protocol::{Protocol, Request};
use crate::domain::error::{Cause, Error};

#[derive(Debug)]
pub(super) struct JsonOnly;

impl Gate for JsonOnly {
    fn admit(&self, request: &mut Request) -> Result<(), Error> {
        let harmless = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if harmless || Protocol::of(request) != Protocol::Http {
            return Ok(());
        }
        match request.headers().get(CONTENT_TYPE) {
            None if request.body().is_end_stream() => Ok(()),
            None => Err(refused("the body has no content type")),
            Some(value) if is_json(value.to_str().unwrap_or_default()) => Ok(()),
            Some(value) => Err(refused(&format!("the content type {value:?} is not served"))),
        }
    }
}

fn refused(problem: &str) -> Error {
    Error::new(Cause::MediaTypeNotSupported, format!("{problem}; send application/json"))
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_passes_in_every_spelling_and_nothing_else_does() {
        for (content_type, passes) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/a2a+json", true),
            ("application/vnd.api+json", true),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("multipart/form-data; boundary=x", false),
            ("text/json", false),
            ("application/jsonx", false),
            ("", false),
        ] {
            assert_eq!(is_json(content_type), passes, "{content_type}");
        }
    }
}
