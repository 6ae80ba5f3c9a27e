//! How the model answers: samplers, bounds, shapes, thoughts, sound.

use serde_json::{Value, json};

use super::{Notes, with_member};
use crate::domain::error::Error;
use crate::facade::Report;
use crate::facade::openai::chat::stream::Sound;
use crate::proto::gemini::{GenerationConfig, ThinkingConfig};
use crate::proto::openai::{ChatCompletionRequest, ResponseFormat};
use crate::proto::vendor;

const MOST_ANSWERS: i32 = 8;
const MOST_LOGPROBS: i32 = 20;
/// OpenAI's own, which no other vendor's models have.
const VOICES: [&str; 13] = [
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer",
    "verse",
];

pub fn configure(
    asked: &ChatCompletionRequest,
    config: &mut GenerationConfig,
    notes: &mut Notes,
) -> Result<(), Error> {
    config.temperature = within(asked.temperature, "temperature", 0.0, 2.0)?;
    config.top_p = within(asked.top_p, "top_p", 0.0, 1.0)?;
    config.presence_penalty = within(asked.presence_penalty, "presence_penalty", -2.0, 2.0)?;
    config.frequency_penalty = within(asked.frequency_penalty, "frequency_penalty", -2.0, 2.0)?;
    config.seed = asked.seed;
    config.candidate_count = whole(asked.n, "n", 1, MOST_ANSWERS)?.filter(|count| *count != 1);
    config.visible_output_tokens = whole(asked.max_tokens, "max_tokens", 1, i32::MAX)?;
    config.max_output_tokens = whole(asked.max_completion_tokens, "max_completion_tokens", 1, i32::MAX)?;
    config.stop_sequences = asked.stop.iter().filter(|stop| !stop.is_empty()).cloned().collect();
    logprobs(asked, config)?;
    if let Some(format) = &asked.response_format {
        shape(format, config, &mut notes.report)?;
    }
    if let Some(thinking) = effort(&asked.reasoning_effort)? {
        config.thinking_config = Some(thinking);
    }
    modalities(asked, config, &mut notes.report)?;
    resolution(config, notes);
    Ok(())
}

fn within(value: Option<f64>, field: &str, least: f64, most: f64) -> Result<Option<f64>, Error> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(Error::field(field, format!("must be between {least} and {most}")))
        }
        value => Ok(value),
    }
}

fn whole(value: Option<i32>, field: &str, least: i32, most: i32) -> Result<Option<i32>, Error> {
    match value {
        Some(value) if value < least => Err(Error::field(field, format!("must be at least {least}"))),
        Some(value) if value > most => Err(Error::field(field, format!("must be at most {most}"))),
        value => Ok(value),
    }
}

fn logprobs(asked: &ChatCompletionRequest, config: &mut GenerationConfig) -> Result<(), Error> {
    let top = whole(asked.top_logprobs, "top_logprobs", 0, MOST_LOGPROBS)?;
    match (asked.logprobs, top) {
        (Some(true), top) => {
            config.response_logprobs = Some(true);
            config.logprobs = top;
            Ok(())
        }
        (_, None | Some(0)) => Ok(()),
        _ => Err(Error::field("top_logprobs", "needs logprobs to be true")),
    }
}

fn shape(format: &ResponseFormat, config: &mut GenerationConfig, report: &mut Report) -> Result<(), Error> {
    match format.r#type.as_str() {
        "text" => return Ok(()),
        "json_object" | "json_schema" => "application/json".clone_into(&mut config.response_mime_type),
        _ => {
            return Err(Error::field("response_format.type", "must be text, json_object or json_schema"));
        }
    }
    let Some(schema) = format.json_schema.as_ref().filter(|_| format.r#type == "json_schema") else {
        let missing = format.r#type == "json_schema";
        return match missing {
            true => Err(Error::field("response_format.json_schema", "is required with this type")),
            false => Ok(()),
        };
    };
    if !schema.schema.is_empty() && !schema.schema.trim_start().starts_with('{') {
        return Err(Error::field("response_format.json_schema.schema", "must be an object"));
    }
    if !schema.description.is_empty() {
        report.ignored("response_format.json_schema.description", "the schema itself says it");
    }
    config.response_json_schema.clone_from(&schema.schema);
    Ok(())
}

/// Who asks for an effort can show thoughts.
fn effort(effort: &str) -> Result<Option<ThinkingConfig>, Error> {
    let level = match effort {
        "" => return Ok(None),
        "none" => {
            return Ok(Some(ThinkingConfig { thinking_budget: Some(0), ..ThinkingConfig::default() }));
        }
        "minimal" => "MINIMAL",
        "low" => "LOW",
        "medium" => "MEDIUM",
        "high" | "xhigh" | "max" => "HIGH",
        _ => {
            return Err(Error::field(
                "reasoning_effort",
                "must be none, minimal, low, medium, high, xhigh or max",
            ));
        }
    };
    let thinking_level = level.to_owned();
    Ok(Some(ThinkingConfig { include_thoughts: Some(true), thinking_level, ..ThinkingConfig::default() }))
}

fn modalities(
    asked: &ChatCompletionRequest,
    config: &mut GenerationConfig,
    report: &mut Report,
) -> Result<(), Error> {
    for (at, modality) in asked.modalities.iter().enumerate() {
        if !["text", "audio", "image"].contains(&modality.as_str()) {
            return Err(Error::field(format!("modalities[{at}]"), "must be text, audio or image"));
        }
    }
    let speaks = speaks(asked);
    if speaks {
        config.response_modalities = vec!["AUDIO".to_owned()];
        if asked.modalities.len() > 1 {
            report.altered("modalities", "the model speaks, and gives no transcript");
        }
        return voice(asked, config, report);
    }
    if asked.modalities.iter().any(|modality| modality != "text") {
        config.response_modalities = asked.modalities.iter().map(|m| m.to_ascii_uppercase()).collect();
    }
    if !asked.audio.is_empty() {
        report.ignored("audio", "modalities do not ask for it");
    }
    Ok(())
}

fn speaks(asked: &ChatCompletionRequest) -> bool {
    asked.modalities.iter().any(|modality| modality == "audio")
}

fn voice(
    asked: &ChatCompletionRequest,
    config: &mut GenerationConfig,
    report: &mut Report,
) -> Result<(), Error> {
    let audio: Value = vendor::kept(&asked.audio).unwrap_or_default();
    let Some(voice) = audio.get("voice").and_then(Value::as_str) else {
        return Err(Error::field("audio.voice", "is required where modalities ask for audio"));
    };
    if VOICES.contains(&voice) {
        report.altered("audio.voice", "the model has no voice of this name; it takes its own");
        return Ok(());
    }
    let speech = json!({"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": voice}}});
    config.extra = with_member(&config.extra, "speechConfig", &speech.to_string());
    Ok(())
}

/// How sound is given back, where it is asked for.
pub fn sound(asked: &ChatCompletionRequest) -> Result<Option<Sound>, Error> {
    if !speaks(asked) {
        return Ok(None);
    }
    let audio: Value = vendor::kept(&asked.audio).unwrap_or_default();
    match (audio.get("format").and_then(Value::as_str), asked.stream) {
        (Some("pcm16"), _) => Ok(Some(Sound::Pcm)),
        (Some("wav"), Some(true)) => Err(Error::field("audio.format", "must be pcm16 in a stream")),
        (Some("wav"), _) => Ok(Some(Sound::Wav)),
        _ => Err(Error::field("audio.format", "must be wav or pcm16; nothing is encoded here")),
    }
}

fn resolution(config: &mut GenerationConfig, notes: &mut Notes) {
    let Some((level, outvoted)) = notes.details.resolution() else { return };
    config.extra = with_member(&config.extra, "mediaResolution", &format!("\"{level}\""));
    if let Some(field) = outvoted {
        notes.report.altered(field, "one detail holds for all pictures, and another asks for more");
    }
}
