//! What a model can do, by its name. Pure. A name that says nothing is taken for a current one.

/// What requests may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Calls and their answers carry ids; older models refuse them as unknown.
    pub call_ids: bool,
    /// Functions may be declared with a JSON schema.
    pub json_schema: bool,
    pub thinking: Thinking,
    /// Calls of the current turn must be signed.
    pub signatures: bool,
    /// Temperature and its like are listened to.
    pub samplers: bool,
    /// An answer in JSON may be asked for although there are tools.
    pub json_beside_tools: bool,
    /// The model's own tools may stand beside functions.
    pub own_tools_beside_functions: bool,
    /// Answers of functions may hold pictures.
    pub media_in_answers: bool,
    /// Categories for pictures are known.
    pub safety_of_pictures: bool,
    /// Tokens that an answer may have, where there is a bound.
    pub output: Option<i32>,
}

/// How it is said how long a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It does not.
    Never,
    Budget(Budget),
    /// In words, the least first.
    Levels(&'static [Level]),
}

/// In tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub least: i32,
    pub most: i32,
    /// It can do without.
    pub off: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Minimal,
    Low,
    Medium,
    High,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Minimal, Self::Low, Self::Medium, Self::High];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "MINIMAL",
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| name.eq_ignore_ascii_case(level.as_str()))
    }
}

const LOW_HIGH: &[Level] = &[Level::Low, Level::High];
const FROM_LOW: &[Level] = &[Level::Low, Level::Medium, Level::High];
const FROM_MINIMAL: &[Level] = &Level::ALL;

impl Abilities {
    pub fn of(model: &str) -> Self {
        let generation = generation(model).unwrap_or((3, 5));
        let third = generation >= (3, 0);
        Self {
            call_ids: third,
            json_schema: generation >= (2, 5),
            thinking: Thinking::of(model, generation),
            signatures: third,
            samplers: generation < (4, 0),
            json_beside_tools: third,
            own_tools_beside_functions: third,
            media_in_answers: third,
            safety_of_pictures: false,
            output: match generation {
                (..2, _) | (2, ..5) => Some(8_192),
                (..4, _) => Some(65_536),
                // What is longer comes in several answers.
                _ => None,
            },
        }
    }
}

impl Thinking {
    fn of(model: &str, generation: (u32, u32)) -> Self {
        let is = |word: &str| model.split(['-', '/']).any(|part| part == word);
        match generation {
            (..2, _) | (2, ..5) => Self::Never,
            (2, _) if is("pro") => Self::Budget(Budget { least: 128, most: 32_768, off: false }),
            (2, _) if is("lite") => Self::Budget(Budget { least: 512, most: 24_576, off: true }),
            (2, _) => Self::Budget(Budget { least: 1, most: 24_576, off: true }),
            (3, 0) if is("pro") => Self::Levels(LOW_HIGH),
            (3, ..8) if !is("pro") => Self::Levels(FROM_MINIMAL),
            _ => Self::Levels(FROM_LOW),
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
        assert!(!Abilities::of("gemini-2.5-pro").call_ids);
        assert!(Abilities::of("gemini-3-pro-preview").call_ids && Abilities::of("tuned").signatures);
        assert!(!Abilities::of("gemini-2.0-flash").json_schema);
        assert!(!Abilities::of("gemini-4-argon").samplers && Abilities::of("gemini-3.8-flash").samplers);
    }

    #[test]
    fn the_name_tells_how_it_thinks() {
        let budget = |least, most, off| Thinking::Budget(Budget { least, most, off });
        for (model, expected) in [
            ("gemini-2.0-flash", Thinking::Never),
            ("gemini-2.5-pro", budget(128, 32_768, false)),
            ("gemini-2.5-flash", budget(1, 24_576, true)),
            ("gemini-2.5-flash-lite", budget(512, 24_576, true)),
            ("gemini-3-pro-preview", Thinking::Levels(LOW_HIGH)),
            ("gemini-3.1-pro-preview", Thinking::Levels(FROM_LOW)),
            ("gemini-3-flash-preview", Thinking::Levels(FROM_MINIMAL)),
            ("gemini-3.6-flash-lite", Thinking::Levels(FROM_MINIMAL)),
            ("gemini-3.8-flash", Thinking::Levels(FROM_LOW)),
            ("gemini-4-argon", Thinking::Levels(FROM_LOW)),
            ("gemini-flash-latest", Thinking::Levels(FROM_MINIMAL)),
        ] {
            assert_eq!(Abilities::of(model).thinking, expected, "{model}");
        }
    }
}
