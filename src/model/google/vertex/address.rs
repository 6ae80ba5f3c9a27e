//! Where a model of Vertex is asked. Pure.

use crate::domain::model::{ModelCause, ModelError};
use crate::model::google::api::segment;

const VERSION: &str = "v1beta1";
const GLOBAL: &str = "global";
/// Several regions behind one address.
const MULTI: [&str; 2] = ["us", "eu"];

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// In place of Google's own, without the version.
    pub base_url: Option<String>,
    pub version: Option<String>,
    /// None with a key: then the key says it (express mode).
    pub project: Option<String>,
    /// `global` if it is not named.
    pub location: Option<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("Vertex needs the project that pays for it; only a key does without one")]
    NoProject,
    #[error(
        "{0:?} is not a location of Vertex: it is `global`, `us`, `eu` or a region such as `us-central1`"
    )]
    Location(String),
    #[error("{0:?} is not the id of a project")]
    Project(String),
}

pub(super) struct Address {
    /// With the version.
    base: String,
    /// `projects/p/locations/l/`, or nothing.
    project: String,
}

impl Address {
    pub(super) fn new(options: Options, by_key: bool) -> Result<Self, BadAddress> {
        let location = options.location.unwrap_or_else(|| GLOBAL.to_owned());
        if location.is_empty()
            || !location.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        {
            return Err(BadAddress::Location(location));
        }
        let project = match options.project {
            Some(project) => format!("projects/{}/locations/{location}/", checked(project)?),
            None if by_key || options.base_url.is_some() => String::new(),
            None => return Err(BadAddress::NoProject),
        };
        let location = if project.is_empty() { GLOBAL } else { &location };
        let host = options.base_url.unwrap_or_else(|| host(location));
        let version = options.version.as_deref().unwrap_or(VERSION);
        Ok(Self { base: format!("{}/{version}", host.trim_end_matches('/')), project })
    }

    pub(super) fn of_model(&self, model: &str, verb: &str) -> Result<String, ModelError> {
        Ok(format!("{}/{}:{verb}", self.base, self.resource(model)?))
    }

    /// All that Google publishes; they belong to no project.
    pub(super) fn of_models(&self, query: &str) -> String {
        format!("{}/publishers/google/models?{query}", self.base)
    }

    /// A bare name is Google's; others are named with their publisher, tuned ones by their endpoint.
    fn resource(&self, model: &str) -> Result<String, ModelError> {
        let segments: Vec<_> = model.split('/').map(segment).collect::<Result<_, _>>()?;
        let names: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
        let path = match names.as_slice() {
            ["projects", _, "locations", _, "publishers", _, "models", _]
            | ["projects", _, "locations", _, "endpoints" | "models", _] => return Ok(names.join("/")),
            ["publishers", _, "models", _] | ["endpoints", _] => names.join("/"),
            ["models", name] | [name] => format!("publishers/google/models/{name}"),
            [publisher, name] => format!("publishers/{publisher}/models/{name}"),
            _ => {
                return Err(ModelError::new(
                    ModelCause::NotFound,
                    format!("there is no model named `{model}`"),
                ));
            }
        };
        Ok(format!("{}{path}", self.project))
    }
}

/// Letters, digits, and in old ones the domain that they belong to.
fn checked(project: String) -> Result<String, BadAddress> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':');
    match project.bytes().all(fits) && project.bytes().any(|b| b.is_ascii_alphanumeric()) {
        true => Ok(project),
        false => Err(BadAddress::Project(project)),
    }
}

fn host(location: &str) -> String {
    match location {
        GLOBAL => "https://aiplatform.googleapis.com".to_owned(),
        several if MULTI.contains(&several) => format!("https://aiplatform.{several}.rep.googleapis.com"),
        region => format!("https://{region}-aiplatform.googleapis.com"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(project: &str, location: &str, base_url: &str) -> Options {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Options { base_url: some(base_url), version: None, project: some(project), location: some(location) }
    }

    #[test]
    fn the_place_says_which_server_is_asked() {
        let google = "publishers/google/models/gemini-x:countTokens";
        for (project, location, base, by_key, expected) in [
            (
                "p",
                "us-central1",
                "",
                false,
                "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1/",
            ),
            (
                "p",
                "global",
                "",
                false,
                "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/",
            ),
            ("p", "", "", false, "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/"),
            (
                "p",
                "us",
                "",
                false,
                "https://aiplatform.us.rep.googleapis.com/v1beta1/projects/p/locations/us/",
            ),
            (
                "p",
                "eu",
                "",
                true,
                "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu/",
            ),
            (
                "example.com:p",
                "eu",
                "http://proxy:1/vertex/",
                false,
                "http://proxy:1/vertex/v1beta1/projects/example.com:p/locations/eu/",
            ),
            ("", "", "", true, "https://aiplatform.googleapis.com/v1beta1/"),
            ("", "us-central1", "", true, "https://aiplatform.googleapis.com/v1beta1/"),
            ("", "", "https://gateway", false, "https://gateway/v1beta1/"),
        ] {
            let address = Address::new(options(project, location, base), by_key).unwrap();
            let url = address.of_model("gemini-x", "countTokens").unwrap();
            assert_eq!(url, format!("{expected}{google}"));
        }
    }

    #[test]
    fn a_name_leads_to_a_model_and_nowhere_else() {
        let address = Address::new(options("p", "eu", "https://h"), false).unwrap();
        let project = "projects/p/locations/eu/";
        for (model, expected) in [
            ("gemini-x", format!("{project}publishers/google/models/gemini-x")),
            ("models/gemini-x", format!("{project}publishers/google/models/gemini-x")),
            ("meta/llama@1", format!("{project}publishers/meta/models/llama%401")),
            ("publishers/google/models/x", format!("{project}publishers/google/models/x")),
            ("endpoints/123", format!("{project}endpoints/123")),
            ("projects/q/locations/us/endpoints/1", "projects/q/locations/us/endpoints/1".to_owned()),
            ("a?b#c", format!("{project}publishers/google/models/a%3Fb%23c")),
        ] {
            let url = address.of_model(model, "v").unwrap();
            assert_eq!(url, format!("https://h/v1beta1/{expected}:v"), "{model}");
        }
        for model in ["", "..", "../x", "a/../b", "a//b", "a/b/c", "projects/q/secrets/s"] {
            let cause = address.of_model(model, "v").unwrap_err().cause;
            assert_eq!(cause, ModelCause::NotFound, "{model}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let refused = |project, location| Address::new(options(project, location, ""), false).err().unwrap();
        assert_eq!(refused("", "eu"), BadAddress::NoProject);
        for location in ["evil.com/", "US", "a b"] {
            assert_eq!(refused("p", location), BadAddress::Location(location.to_owned()));
        }
        for project in ["a/b", "..", "a?b"] {
            assert_eq!(refused(project, "eu"), BadAddress::Project(project.to_owned()));
        }
    }
}
