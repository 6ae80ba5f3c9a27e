//! The console: one page and its assets, built from `web/` and carried by the program. Knows nothing of what the page does;
//! it calls the services like any other client, with a key of its own, so the files themselves need none.

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderName, HeaderValue, IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use http_body_util::Full;
use sha2::{Digest, Sha256};

use crate::transcode::{Body, Response, Route, Rule};

/// One file as it goes out.
struct File {
    rule: Rule,
    kind: &'static str,
    plain: &'static [u8],
    /// The same, gzipped.
    small: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/console/files.rs"));

const fn page_rule(template: &'static str) -> Rule {
    Rule { rpc: "", method: "GET", template, body: Body::None, response_body: None }
}

/// Nothing from anywhere else, nothing written into the page, and nobody may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FIXED: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (VARY, "accept-encoding"),
];

pub fn routes() -> Vec<Route> {
    FILES
        .iter()
        .map(|file| {
            let freshness = Freshness::of(file);
            Route::plain(&file.rule, move |call| {
                let response = answer(file, &freshness, &call.parts.headers);
                async move { response }
            })
        })
        .collect()
}

/// Whether a path leads to a file of the console, which anybody may have.
pub(in crate::transport) fn is_file(path: &str) -> bool {
    FILES.iter().any(|file| file.rule.template == path)
}

/// How long a browser may keep it.
enum Freshness {
    /// An asset is named after what it holds.
    ForEver,
    /// The page names assets, so it is asked for each time.
    WhileTagged(String),
}

impl Freshness {
    fn of(file: &File) -> Self {
        if file.rule.template != "/" {
            return Self::ForEver;
        }
        let hash: String = Sha256::digest(file.plain).iter().take(8).map(|b| format!("{b:02x}")).collect();
        Self::WhileTagged(format!("\"{hash}\""))
    }

    fn control(&self) -> &'static str {
        match self {
            Self::ForEver => "public, max-age=31536000, immutable",
            Self::WhileTagged(_) => "no-cache",
        }
    }

    fn tag(&self) -> Option<&str> {
        match self {
            Self::ForEver => None,
            Self::WhileTagged(tag) => Some(tag),
        }
    }
}

fn answer(file: &File, freshness: &Freshness, request: &HeaderMap) -> Response {
    let known = |tag: &str| header(request, IF_NONE_MATCH).any(|known| known.trim_start_matches("W/") == tag);
    let is_known = freshness.tag().is_some_and(known);
    let small = takes_gzip(request);
    let bytes = match (is_known, small) {
        (true, _) => &[],
        (false, true) => file.small,
        (false, false) => file.plain,
    };
    let mut response = Response::new(tonic::body::Body::new(Full::new(Bytes::from_static(bytes))));
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.extend(FIXED.map(|(name, value)| (name, HeaderValue::from_static(value))));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(freshness.control()));
    if small {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(tag) = freshness.tag().and_then(|tag| HeaderValue::from_str(tag).ok()) {
        headers.insert(ETAG, tag);
    }
    response
}

/// `gzip;q=0` is a no.
fn takes_gzip(request: &HeaderMap) -> bool {
    header(request, ACCEPT_ENCODING).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
        named && quality.is_none_or(|quality| quality > 0.0)
    })
}

/// The members of a list, over all lines.
fn header(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (line, expected) in [
            ("gzip", true),
            ("gzip, deflate, br, zstd", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("identity", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(line))]);
            assert_eq!(takes_gzip(&headers), expected, "{line}");
        }
    }

    #[test]
    fn only_whole_paths_are_files() {
        assert!(is_file("/"));
        for path in ["", "/assets", "/assets/", "/assets/../", "/index.html", "/tasks"] {
            assert!(!is_file(path), "{path}");
        }
        for file in &FILES[1..] {
            assert!(file.rule.template.starts_with("/assets/"), "{}", file.rule.template);
        }
    }
}
