//! Page tokens: where a list goes on, bound to who asked and for what. A token of somebody else, or for another
//! filter, is not a token.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::domain::principal::Principal;
use crate::domain::store::After;

/// Signs tokens. A token is good as long as the server runs.
#[derive(Debug, Clone)]
pub(crate) struct Pages(Hmac<Sha256>);

impl Pages {
    pub(crate) fn new(key: [u8; 64]) -> Self {
        Self(Hmac::new(&key.into()))
    }

    pub(crate) fn token(&self, who: &Principal, question: &impl Debug, after: &After) -> String {
        let place = format!("{}:{}", millis(after.updated), after.task_id);
        let mut bytes = self.sign(who, question, &place).finalize().into_bytes().to_vec();
        bytes.extend_from_slice(place.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// None if it was not made here for this very question.
    pub(crate) fn read(&self, who: &Principal, question: &impl Debug, token: &str) -> Option<After> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (mac, place) = bytes.split_at_checked(32)?;
        let place = str::from_utf8(place).ok()?;
        self.sign(who, question, place).verify_slice(mac).ok()?;
        let (time, task_id) = place.split_once(':')?;
        let updated = UNIX_EPOCH + Duration::from_millis(time.parse().ok()?);
        Some(After { updated, task_id: task_id.to_owned() })
    }

    fn sign(&self, who: &Principal, question: &impl Debug, place: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        // Debug prints strings quoted and escaped, so that no two questions look alike.
        mac.update(format!("{:?} {question:?} {place:?}", who.name()).as_bytes());
        mac
    }
}

fn millis(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::store::Filter;

    #[test]
    fn a_token_is_good_for_one_principal_and_one_question() {
        let pages = Pages::new([7; 64]);
        let (me, filter) = (Principal::local(), Filter::default());
        let after = After { updated: UNIX_EPOCH + Duration::from_millis(1234), task_id: "t:1".to_owned() };
        let token = pages.token(&me, &filter, &after);
        assert_eq!(pages.read(&me, &filter, &token), Some(after));
        let other = Filter { context_id: Some("c".to_owned()), ..Filter::default() };
        for (who, question, token) in [
            (Principal::named("other"), &filter, token.as_str()),
            (me.clone(), &other, token.as_str()),
            (me.clone(), &filter, "AAAA"),
            (me.clone(), &filter, "%%%"),
            (me.clone(), &filter, &token[..token.len() - 2]),
        ] {
            assert_eq!(pages.read(&who, question, token), None);
        }
        assert_eq!(Pages::new([8; 64]).read(&me, &filter, &token), None);
    }
}
