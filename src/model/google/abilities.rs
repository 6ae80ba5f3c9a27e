//! What a model can do, by its name. Pure. A name that says nothing is taken for a current one.

/// What requests may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Calls and their answers carry ids; older models refuse them as unknown.
    pub call_ids: bool,
    /// Functions may be declared with a JSON schema.
    pub json_schema: bool,
    pub thinks: bool,
    /// Calls of the current turn must be signed.
    pub signatures: bool,
}

impl Abilities {
    pub fn of(model: &str) -> Self {
        let generation = generation(model).unwrap_or((3, 5));
        Self {
            call_ids: generation >= (3, 0),
            json_schema: generation >= (2, 5),
            thinks: generation >= (2, 5),
            signatures: generation >= (3, 0),
        }
    }
}

/// `gemini-2.5-flash` is of generation 2.5.
fn generation(model: &str) -> Option<(u32, u32)> {
    let name = model.rsplit('/').next()?.strip_prefix("gemini-")?;
    let number = name.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_generation() {
        for (model, expected) in [
            ("gemini-2.5-flash-lite", Some((2, 5))),
            ("gemini-1.5-pro-002", Some((1, 5))),
            ("gemini-3-pro-preview", Some((3, 0))),
            ("gemini-3.1-flash-lite", Some((3, 1))),
            ("publishers/google/models/gemini-2.0-flash", Some((2, 0))),
            ("gemini-4-argon", Some((4, 0))),
            ("gemini-flash-latest", None),
            ("gemma-3-27b-it", None),
        ] {
            assert_eq!(generation(model), expected, "{model}");
        }
        assert!(!Abilities::of("gemini-2.5-pro").call_ids && Abilities::of("gemini-2.5-pro").thinks);
        assert!(Abilities::of("gemini-3-pro-preview").call_ids && Abilities::of("tuned").signatures);
        assert!(!Abilities::of("gemini-2.0-flash").json_schema);
    }
}
