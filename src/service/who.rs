//! Who asks, as the rim found out. Every service asks here, so that a request that came in by another door is refused
//! everywhere, and not taken for somebody.

use tonic::Extensions;

use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;

pub fn who(extensions: &Extensions) -> Result<Principal, Error> {
    let found = extensions.get::<Principal>().cloned();
    found.ok_or_else(|| Error::new(Cause::Unauthenticated, "this needs a key"))
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
