//! Extensions of A2A that this server knows by name, and when a client means one of them. Pure.

/// Clients that activate it find the cursor in the metadata of every event and task.
pub const RESUME: &str = "urn:agena:extension:resume:v1";

/// The development-tool extension. Its version stands in the address.
pub const DEVELOPMENT_TOOL: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

/// The key that clients of Gemini CLI's own server use in its place.
pub const CODER_AGENT: &str = "coderAgent";

/// Whether a client that names one address means the extension at the other: the same, or an older version of it that
/// semantic versioning calls compatible. What is left out of a version is not asked for.
pub fn means(named: &str, declared: &str) -> bool {
    named == declared
        || matches!((split(named), split(declared)), (Some((a, wanted, z)), Some((b, offered, y)))
            if (a, z) == (b, y) && compatible(&wanted, &offered))
}

type Version = Vec<u64>;

/// `…/v1.2/…`: what stands before, the version, and what stands behind.
fn split(uri: &str) -> Option<(&str, Version, &str)> {
    let mut at = 0;
    for segment in uri.split('/') {
        if let Some(version) = segment.strip_prefix('v').and_then(numbers) {
            let end = at + segment.len();
            return Some((uri.get(..at)?, version, uri.get(end..)?));
        }
        at += segment.len() + 1;
    }
    None
}

fn numbers(text: &str) -> Option<Version> {
    let numbers: Option<Version> = text.split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() <= 3)
}

fn compatible(wanted: &[u64], offered: &[u64]) -> bool {
    match (wanted, offered) {
        // Before 1.0 every minor version may break with the one before.
        ([0, wanted, ..], [0, offered, ..]) => wanted == offered,
        ([a, wanted, ..], [b, offered, ..]) => a == b && wanted <= offered,
        ([a, ..], [b, ..]) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_meant_if_it_is_compatible() {
        let at = |version: &str| format!("https://example.org/profile/{version}/spec.md");
        for (named, declared, meant) in [
            ("v0", "v0", true),
            ("v0.3", "v0", true),
            ("v0.3", "v0.3.1", true),
            ("v0.2", "v0.3", false),
            ("v1", "v0", false),
            ("v1.2", "v1.4", true),
            ("v1.5", "v1.4", false),
            ("v2", "v1.4", false),
            ("vx", "v0", false),
            ("v1.2.3.4", "v1", false),
        ] {
            assert_eq!(means(&at(named), &at(declared)), meant, "{named} for {declared}");
        }
        assert!(!means("https://example.org/other/v0/spec.md", &at("v0")));
        assert!(means("urn:x", "urn:x"));
    }
}
