//! What goes with a notice: who sends it, which it is, and that it is genuine. Pure; the courier calls it. Receivers
//! read of it in `docs/protocol/push.md`.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use sha2::Sha256;

use super::Failure;
use crate::domain::notice::Notice;
use crate::proto::a2a::TaskPushNotificationConfig;

const AGENT: &str = concat!("agena/", env!("CARGO_PKG_VERSION"));
/// The name of 0.3's prose, which most receivers look for, and the one of some newer clients.
const TOKENS: [HeaderName; 2] =
    [HeaderName::from_static("x-a2a-notification-token"), HeaderName::from_static("a2a-notification-token")];
const DELIVERY: HeaderName = HeaderName::from_static("x-agena-delivery");
const SIGNATURE: HeaderName = HeaderName::from_static("x-agena-signature");

/// Clients choose the ids of webhooks freely; in a header they must neither break it nor look like its other parts.
const ID: &AsciiSet = &CONTROLS.add(b' ').add(b'/').add(b'%');

/// `seconds` since 1970 say when it is sent; everything else is the same when it is sent again.
pub(super) fn headers(
    config: &TaskPushNotificationConfig,
    sequence: u64,
    notice: &Notice,
    seconds: u64,
) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(notice.content_type));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let id = utf8_percent_encode(&config.id, ID);
    headers.insert(DELIVERY, value(&format!("{}/{id}/{sequence}", config.task_id))?);
    if let Some(authentication) = config.authentication.as_ref().filter(|a| !a.scheme.is_empty()) {
        let text = format!("{} {}", authentication.scheme, authentication.credentials);
        headers.insert(AUTHORIZATION, secret(text.trim_end())?);
    }
    if !config.token.is_empty() {
        for name in TOKENS {
            headers.insert(name, secret(&config.token)?);
        }
        headers.insert(SIGNATURE, value(&signature(&config.token, seconds, &notice.body)?)?);
    }
    Ok(headers)
}

/// Over the time and the body, so that neither can be exchanged.
fn signature(token: &str, seconds: u64, body: &[u8]) -> Result<String, Failure> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).map_err(|_| Failure::Header)?;
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    let mut text = format!("t={seconds},v1=");
    for byte in mac.finalize().into_bytes() {
        // A string takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| Failure::Header)
}

fn secret(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = value(text)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::proto::a2a::AuthenticationInfo;

    fn config(token: &str, authentication: Option<(&str, &str)>) -> TaskPushNotificationConfig {
        let authentication = authentication.map(|(scheme, credentials)| AuthenticationInfo {
            scheme: scheme.to_owned(),
            credentials: credentials.to_owned(),
        });
        TaskPushNotificationConfig {
            task_id: "task".to_owned(),
            id: "my hook/1\n".to_owned(),
            token: token.to_owned(),
            authentication,
            ..TaskPushNotificationConfig::default()
        }
    }

    fn printed(config: &TaskPushNotificationConfig) -> Result<Vec<String>, Failure> {
        let notice = Notice { content_type: "application/json", body: Bytes::from_static(b"{}") };
        let headers = headers(config, 7, &notice, 1_700_000_000)?;
        let mut lines: Vec<String> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        lines.sort();
        Ok(lines)
    }

    #[test]
    fn headers_say_who_sends_what_and_sign_it() {
        let plain = [
            "content-type: application/json".to_owned(),
            format!("user-agent: agena/{}", env!("CARGO_PKG_VERSION")),
            "x-agena-delivery: task/my%20hook%2F1%0A/7".to_owned(),
        ];
        assert_eq!(printed(&config("", None)).unwrap(), plain);
        // printf '1700000000.{}' | openssl dgst -sha256 -hmac the-token
        let mac = "4765f1466da5671c6089956b94f6ea873fa1b3b2262c915a01b6365a6b85a434";
        let all = [
            "a2a-notification-token: the-token",
            "authorization: Bearer abc",
            &plain[0],
            &plain[1],
            "x-a2a-notification-token: the-token",
            &plain[2],
            &format!("x-agena-signature: t=1700000000,v1={mac}"),
        ];
        assert_eq!(printed(&config("the-token", Some(("Bearer", "abc")))).unwrap(), all);
    }

    #[test]
    fn a_scheme_may_stand_alone_and_no_secret_can_break_out_of_its_header() {
        assert!(
            printed(&config("", Some(("Negotiate", ""))))
                .unwrap()
                .contains(&"authorization: Negotiate".to_owned())
        );
        assert_eq!(printed(&config("", Some(("", "abc")))).unwrap().len(), 3);
        for bad in [config("a\r\nb: c", None), config("", Some(("Bearer", "a\r\nb: c")))] {
            assert_eq!(printed(&bad), Err(Failure::Header));
        }
    }
}
