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
    Error::new(Cause::MediaTypeNotSupported, format!("{problem}; send application/json in UTF-8"))
}

fn is_json(content_type: &str) -> bool {
    if content_type.eq_ignore_ascii_case("application/json") {
        return true;
    }
    let content_type = content_type.to_ascii_lowercase();
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let json =
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    // JSON is UTF-8; whoever says otherwise would be misread.
    let charset = |part: &str| part.strip_prefix("charset=").map(|set| set.trim_matches('"').to_owned());
    json && parts.filter_map(charset).all(|set| matches!(set.as_str(), "utf-8" | "utf8" | "us-ascii"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_passes_in_every_spelling_and_nothing_else_does() {
        for (content_type, passes) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/json; x=1; charset=\"UTF-8\"", true),
            ("application/json; charset=utf-16", false),
            ("application/json;charset=latin1", false),
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
