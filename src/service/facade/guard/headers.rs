//! Where a key stands, as the vendors' clients read it. Pure but for the time of day, which Anthropic's names want.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};

use crate::domain::quota::Level;

/// Limit, what remains, and when it is whole again; of requests and of tokens.
const OPENAI: [[&str; 3]; 2] = [
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
    ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
];

const ANTHROPIC: [[&str; 3]; 2] = [
    [
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ],
    [
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ],
];

pub(super) fn openai(levels: [Option<Level>; 2]) -> Vec<(&'static str, String)> {
    lines(OPENAI, levels, span)
}

pub(super) fn anthropic(levels: [Option<Level>; 2]) -> Vec<(&'static str, String)> {
    let now = SystemTime::now();
    lines(ANTHROPIC, levels, |reset| {
        DateTime::<Utc>::from(now + reset).to_rfc3339_opts(SecondsFormat::Secs, true)
    })
}

fn lines(
    names: [[&'static str; 3]; 2],
    levels: [Option<Level>; 2],
    reset: impl Fn(Duration) -> String,
) -> Vec<(&'static str, String)> {
    let told = names.into_iter().zip(levels).filter_map(|(names, level)| Some((names, level?)));
    told.flat_map(|(names, level)| {
        let values = [level.limit.to_string(), level.remaining.to_string(), reset(level.reset)];
        names.into_iter().zip(values)
    })
    .collect()
}

/// `6m0s`, `1.5s`, `20ms`.
fn span(span: Duration) -> String {
    let (minutes, rest) = (span.as_secs() / 60, span - Duration::from_secs(span.as_secs() / 60 * 60));
    match (minutes, rest) {
        (0, rest) if rest < Duration::from_secs(1) => format!("{}ms", rest.as_millis()),
        (0, rest) => format!("{}s", rest.as_secs_f64()),
        (minutes, rest) => format!("{minutes}m{}s", rest.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_only_where_there_are_bounds() {
        let level = Level { limit: 60, remaining: 59, reset: Duration::from_secs(1) };
        assert_eq!(
            openai([Some(level), None]),
            [
                ("x-ratelimit-limit-requests", "60".to_owned()),
                ("x-ratelimit-remaining-requests", "59".to_owned()),
                ("x-ratelimit-reset-requests", "1s".to_owned()),
            ]
        );
        let told = anthropic([None, Some(level)]);
        assert_eq!(told.len(), 3);
        assert_eq!(told[0], ("anthropic-ratelimit-tokens-limit", "60".to_owned()));
        assert!(told[2].1.ends_with('Z'), "{told:?}");
    }

    #[test]
    fn spans_are_written_as_openai_does() {
        for (millis, text) in
            [(0, "0ms"), (20, "20ms"), (1000, "1s"), (1500, "1.5s"), (360_000, "6m0s"), (90_250, "1m30.25s")]
        {
            assert_eq!(span(Duration::from_millis(millis)), text);
        }
    }
}
