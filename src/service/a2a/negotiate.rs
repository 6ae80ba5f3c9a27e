//! What a request brings along: who asks, in which version, with which extensions. Pure.

use tonic::Extensions;
use tonic::metadata::MetadataMap;

use crate::domain::dialect::{Dialect, RequestMetadata};
use crate::domain::error::{Cause, Error};
use crate::domain::extension::{RESUME, means};
use crate::domain::principal::Principal;
use crate::proto::a2a::AgentCard;
use crate::proto::wkt::{Kind, Struct};
use crate::service::{last_event_id, who};

/// What holds for one call.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) who: Principal,
    /// Empty for the one without a name.
    pub(super) tenant: String,
    pub(super) dialect: Dialect,
    /// The extensions that the client named and the card declares.
    pub(super) extensions: Vec<String>,
    /// Behind which event a stream goes on, if the client says so.
    pub(super) after: Option<u64>,
}

impl Caller {
    pub(super) fn of(
        metadata: &MetadataMap,
        extensions: &Extensions,
        card: &AgentCard,
    ) -> Result<Self, Error> {
        let who = who(extensions)?;
        let dialect = extensions.get::<Dialect>().copied().unwrap_or_default();
        if dialect == Dialect::V10 {
            check_version(metadata)?;
        }
        let mut caller = Self {
            who,
            tenant: String::new(),
            dialect,
            extensions: active(metadata, card)?,
            after: last_event_id(metadata)?,
        };
        if let Some(RequestMetadata(metadata)) = extensions.get()
            && caller.activates(RESUME)
            && caller.after.is_none()
        {
            caller.after = cursor(metadata)?;
        }
        Ok(caller)
    }

    pub(super) fn activates(&self, uri: &str) -> bool {
        self.extensions.iter().any(|active| active == uri)
    }
}

/// The path of a request says already that it is 1.0, so a client may leave the version out; one that names another
/// is told which there are.
fn check_version(metadata: &MetadataMap) -> Result<(), Error> {
    let version = text(metadata, "a2a-version").next().unwrap_or_default();
    let mut numbers = version.split('.');
    match (numbers.next().unwrap_or_default().trim(), numbers.next().map(str::trim)) {
        ("", None) | ("1", None | Some("0")) => Ok(()),
        _ => {
            let message = format!("A2A-Version {version:?} is not served here; 1.0 is");
            Err(Error::new(Cause::VersionNotSupported, message).with("supportedVersions", "1.0"))
        }
    }
}

/// 1.0 says `A2A-Extensions`, 0.3 said `X-A2A-Extensions`; both are heard. Unknown ones are ignored, required ones
/// must be there.
fn active(metadata: &MetadataMap, card: &AgentCard) -> Result<Vec<String>, Error> {
    let named: Vec<String> = ["a2a-extensions", "x-a2a-extensions"]
        .into_iter()
        .flat_map(|name| text(metadata, name))
        .flat_map(|list| list.split(',').map(|uri| uri.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    let declared = card.capabilities.as_ref().map(|c| c.extensions.as_slice()).unwrap_or_default();
    let is_named = |uri: &str| named.iter().any(|name| means(name, uri));
    if let Some(missing) = declared.iter().find(|e| e.required && !is_named(&e.uri)) {
        let message = format!("the extension {} is required; name it in A2A-Extensions", missing.uri);
        return Err(Error::new(Cause::ExtensionSupportRequired, message).with("uri", &missing.uri));
    }
    Ok(declared.iter().map(|extension| &extension.uri).filter(|uri| is_named(uri)).cloned().collect())
}

/// The same in the request itself, where the resume extension puts it on events.
fn cursor(metadata: &Struct) -> Result<Option<u64>, Error> {
    let member = |of: &Struct, name: &str| of.fields.get(name).and_then(|value| value.kind.clone());
    let Some(Kind::Struct(fields)) = member(metadata, RESUME) else { return Ok(None) };
    let Some(sequence) = member(&fields, "sequence") else { return Ok(None) };
    let text = match &sequence {
        Kind::Number(number) => number.to_string(),
        Kind::String(text) => text.clone(),
        _ => String::new(),
    };
    let field = || format!("metadata.{RESUME}.sequence");
    text.parse().map(Some).map_err(|_| Error::field(field(), "is not the sequence of an event"))
}

fn text<'a>(metadata: &'a MetadataMap, name: &'static str) -> impl Iterator<Item = &'a str> + use<'a> {
    metadata.get_all(name).iter().filter_map(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::a2a::{AgentCapabilities, AgentExtension};

    fn caller(headers: &[(&'static str, &'static str)], required: bool) -> Result<Caller, Error> {
        let mut metadata = MetadataMap::new();
        for (name, value) in headers {
            metadata.append(*name, value.parse().unwrap());
        }
        let mut extensions = Extensions::new();
        extensions.insert(Principal::local());
        let declared = AgentExtension { uri: "urn:x".to_owned(), required, ..AgentExtension::default() };
        let capabilities = AgentCapabilities { extensions: vec![declared], ..AgentCapabilities::default() };
        Caller::of(
            &metadata,
            &extensions,
            &AgentCard { capabilities: Some(capabilities), ..AgentCard::default() },
        )
    }

    #[test]
    fn versions_are_compared_by_major_and_minor() {
        for (version, served) in [
            ("1.0", true),
            ("1.0.3", true),
            ("1", true),
            ("", true),
            ("0.3", false),
            ("1.1", false),
            ("99.0", false),
            ("x", false),
        ] {
            assert_eq!(caller(&[("a2a-version", version)], false).is_ok(), served, "{version:?}");
        }
        assert!(caller(&[], false).is_ok());
    }

    #[test]
    fn extensions_are_heard_in_both_spellings_and_required_ones_must_be_named() {
        assert!(caller(&[], true).is_err());
        for name in ["a2a-extensions", "x-a2a-extensions"] {
            let active = caller(&[(name, "urn:other, urn:x")], true).unwrap().extensions;
            assert_eq!(active, ["urn:x"]);
        }
    }
}
