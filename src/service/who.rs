//! Who asks, as the rim found out, and behind which event. Every service asks here, so that a request that came in by
//! another door is refused everywhere, and not taken for somebody.

use tonic::Extensions;
use tonic::metadata::MetadataMap;

use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;

pub fn who(extensions: &Extensions) -> Result<Principal, Error> {
    let found = extensions.get::<Principal>().cloned();
    found.ok_or_else(|| Error::new(Cause::Unauthenticated, "this needs a key"))
}

/// `Last-Event-ID`, which browsers send by themselves.
pub fn last_event_id(metadata: &MetadataMap) -> Result<Option<u64>, Error> {
    let texts = metadata.get_all("last-event-id").iter().filter_map(|value| value.to_str().ok());
    match texts.into_iter().find(|id| !id.is_empty()) {
        None => Ok(None),
        Some(id) => {
            id.trim().parse().map(Some).map_err(|_| Error::field("last-event-id", "is not an id of an event"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_taken_for_somebody() {
        let mut extensions = Extensions::default();
        assert_eq!(who(&extensions).unwrap_err().cause(), Cause::Unauthenticated);
        extensions.insert(Principal::named("ann"));
        assert_eq!(who(&extensions).unwrap(), Principal::named("ann"));
    }
}
