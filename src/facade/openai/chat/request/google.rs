//! What Google's own server of this dialect takes besides: `extra_body.google`, or `google` where a library has unpacked it.

use super::foreign::read;
use super::members;
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::{GenerateContentRequest, GenerationConfig, SafetySetting, ThinkingConfig};
use crate::proto::openai::ChatCompletionRequest;

/// Servers refuse a whole request for one that they do not know.
const CATEGORIES: [&str; 6] = [
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
    "HARM_CATEGORY_CIVIC_INTEGRITY",
    "HARM_CATEGORY_JAILBREAK",
];

pub fn apply(
    asked: &ChatCompletionRequest,
    out: &mut GenerateContentRequest,
    config: &mut GenerationConfig,
    report: &mut Report,
) -> Result<(), Error> {
    if asked.google.is_empty() && asked.extra_body.is_empty() {
        return Ok(());
    }
    let mut places = vec![("google".to_owned(), asked.google.clone())];
    for (name, value) in members(&asked.extra_body) {
        match name.as_str() {
            "google" => places.push(("extra_body.google".to_owned(), value.get().to_owned())),
            _ => report.dropped(format!("extra_body.{name}"), "is not known here"),
        }
    }
    for (at, object) in places {
        for (name, value) in members(&object) {
            let field = format!("{at}.{name}");
            match name.as_str() {
                "thinking_config" | "thinkingConfig" => {
                    if !asked.reasoning_effort.is_empty() {
                        return Err(Error::field(
                            field,
                            "stands beside reasoning_effort; give one of the two",
                        ));
                    }
                    config.thinking_config = read::<Option<ThinkingConfig>>(&value, &field)?.map(shouted);
                }
                "cached_content" | "cachedContent" => out.cached_content = read(&value, &field)?,
                "safety_settings" | "safetySettings" => {
                    let settings: Option<Vec<SafetySetting>> = read(&value, &field)?;
                    out.safety_settings.extend(known(settings.unwrap_or_default(), &field, report));
                }
                _ => report.dropped(field, "is not known here"),
            }
        }
    }
    Ok(())
}

/// Levels are written in capitals.
fn shouted(mut thinking: ThinkingConfig) -> ThinkingConfig {
    thinking.thinking_level.make_ascii_uppercase();
    thinking
}

fn known(settings: Vec<SafetySetting>, at: &str, report: &mut Report) -> Vec<SafetySetting> {
    let mut kept = Vec::new();
    for (index, setting) in settings.into_iter().enumerate() {
        match CATEGORIES.contains(&setting.category.as_str()) {
            true => kept.push(setting),
            false => {
                report.dropped(format!("{at}[{index}].category"), "no model has a category of this name")
            }
        }
    }
    kept
}
