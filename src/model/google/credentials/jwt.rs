//! The assertion of a service account: what it claims, signed with its key (RS256). Pure but for the blinding of the
//! signature, which wants random bits and does not show them.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use super::file::{BadFile, Service};

/// The longest that Google takes.
const LIFETIME: Duration = Duration::from_secs(3600);

/// `audience` is the token server.
pub(super) fn assertion(
    service: &Service,
    scope: &str,
    audience: &str,
    now: SystemTime,
) -> Result<String, BadFile> {
    let (header, claims) = (header(service), claims(service, scope, audience, now));
    let text = format!("{}.{}", encode(&header), encode(&claims));
    let signature = sign(service.key.expose(), text.as_bytes())?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

fn header(service: &Service) -> Value {
    let mut header = json!({"alg": "RS256", "typ": "JWT"});
    if let Some(id) = &service.key_id {
        header["kid"] = json!(id);
    }
    header
}

fn claims(service: &Service, scope: &str, audience: &str, now: SystemTime) -> Value {
    let issued = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    json!({
        "iss": service.email,
        "scope": scope,
        "aud": audience,
        "iat": issued,
        "exp": issued + LIFETIME.as_secs(),
    })
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn sign(pem: &str, text: &[u8]) -> Result<Vec<u8>, BadFile> {
    let key = match PrivateKeyDer::from_pem_slice(pem.as_bytes()) {
        Ok(PrivateKeyDer::Pkcs8(der)) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        Ok(PrivateKeyDer::Pkcs1(der)) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err(BadFile::Key),
    };
    let key = key.map_err(|_| BadFile::Key)?;
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text, &mut signature).map_err(|_| BadFile::Key)?;
    Ok(signature)
}

#[cfg(test)]
mod tests {
    use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::*;
    use crate::domain::secret::Secret;

    /// Made for the tests; it opens nothing.
    const KEY: &str = include_str!("../../../../tests/suite/model/service_account.pem");

    fn service(key: &str) -> Service {
        Service { email: "a@b".into(), key_id: Some("7".into()), key: Secret::new(key) }
    }

    fn decode(part: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(part).unwrap()
    }

    #[test]
    fn the_assertion_says_who_for_what_and_until_when() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let text = assertion(&service(KEY), "the scope", "https://t/x", now).unwrap();
        let parts: Vec<&str> = text.split('.').collect();
        let [header, claims, signature] = parts.as_slice() else { panic!("{text}") };
        let json = |part| serde_json::from_slice::<Value>(&decode(part)).unwrap();
        assert_eq!(json(header), json!({"alg": "RS256", "typ": "JWT", "kid": "7"}));
        assert_eq!(
            json(claims),
            json!({"iss": "a@b", "scope": "the scope", "aud": "https://t/x", "iat": 1_700_000_000, "exp": 1_700_003_600})
        );
        let Ok(PrivateKeyDer::Pkcs8(der)) = PrivateKeyDer::from_pem_slice(KEY.as_bytes()) else { panic!() };
        let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
        public.verify(format!("{header}.{claims}").as_bytes(), &decode(signature)).unwrap();
    }

    #[test]
    fn what_is_no_key_is_refused_without_a_word_of_it() {
        let cut = KEY.replacen("MII", "MIJ", 1);
        for key in ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", &cut] {
            let refused = assertion(&service(key), "s", "a", SystemTime::UNIX_EPOCH).unwrap_err();
            assert_eq!(refused, BadFile::Key);
        }
    }
}
