//! Whose client asks, by where and how it asks, so that even a refusal at the door is in words that it can read.

use http::HeaderMap;

use super::anthropic::ANTHROPIC;
use super::gemini::GEMINI;
use super::openai::OPENAI;
use crate::transcode::vendor::Dialect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    OpenAi,
    Anthropic,
    Gemini,
}

/// What paths begin with. The list of models is shared, see [`Vendor::asking`].
const PLACES: [(&str, Vendor); 9] = [
    ("/openai/", Vendor::OpenAi),
    ("/v1/chat/", Vendor::OpenAi),
    ("/v1/responses", Vendor::OpenAi),
    ("/v1/embeddings", Vendor::OpenAi),
    ("/anthropic/", Vendor::Anthropic),
    ("/v1/messages", Vendor::Anthropic),
    ("/gemini/", Vendor::Gemini),
    ("/v1beta/", Vendor::Gemini),
    ("/v1alpha/", Vendor::Gemini),
];

const MODELS: &str = "/v1/models";
/// Behind the name of a model; only these, since names have colons too.
const VERBS: [&str; 5] =
    ["generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"];

impl Vendor {
    /// None where no vendor has anything.
    pub fn at(path: &str, headers: &HeaderMap, query: &str) -> Option<Self> {
        if let Some(rest) = path.strip_prefix(MODELS).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            let verb = rest.rsplit_once(':').is_some_and(|(_, verb)| VERBS.contains(&verb));
            return Some(if verb { Self::Gemini } else { Self::asking(headers, query) });
        }
        PLACES.iter().find(|(place, _)| path.starts_with(place)).map(|(_, vendor)| *vendor)
    }

    /// Whose client it is, where paths do not tell.
    pub fn asking(headers: &HeaderMap, query: &str) -> Self {
        if headers.contains_key("anthropic-version") {
            return Self::Anthropic;
        }
        let google = headers.keys().any(|name| name.as_str().starts_with("x-goog-"));
        let keyed = query.split('&').any(|pair| pair.starts_with("key="));
        if google || keyed { Self::Gemini } else { Self::OpenAi }
    }

    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::OpenAi => &OPENAI,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_where_and_how_it_asks() {
        for (path, header, query, vendor) in [
            ("/v1/chat/completions", "", "", Some(Vendor::OpenAi)),
            ("/v1/responses/resp_1/cancel", "", "", Some(Vendor::OpenAi)),
            ("/v1/messages/count_tokens", "", "", Some(Vendor::Anthropic)),
            ("/v1beta/models/m:generateContent", "", "", Some(Vendor::Gemini)),
            ("/v1/models/m:streamGenerateContent", "", "", Some(Vendor::Gemini)),
            ("/v1/models/llama3:8b", "", "", Some(Vendor::OpenAi)),
            ("/v1/models", "", "", Some(Vendor::OpenAi)),
            ("/v1/models", "anthropic-version", "", Some(Vendor::Anthropic)),
            ("/v1/models/x", "x-goog-api-client", "", Some(Vendor::Gemini)),
            ("/v1/models", "", "a=1&key=x", Some(Vendor::Gemini)),
            ("/v1/modelsx", "", "", None),
            ("/v1/tasks", "", "", None),
            ("/v1/message:send", "", "", None),
            ("/", "", "", None),
        ] {
            let mut headers = HeaderMap::new();
            if !header.is_empty() {
                headers.insert(header, http::HeaderValue::from_static("1"));
            }
            assert_eq!(Vendor::at(path, &headers, query), vendor, "{path} {header} {query}");
        }
    }
}
