//! How the model answers: sampling, length, shape and thinking.

use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::{GenerationConfig, ThinkingConfig};
use crate::proto::openai::{CreateResponseRequest, Reasoning, TextFormat};

const JSON: &str = "application/json";

pub(super) fn generation(
    request: &CreateResponseRequest,
    report: &mut Report,
) -> Result<Option<GenerationConfig>, Error> {
    if request.max_output_tokens.is_some_and(|most| most < 1) {
        return Err(Error::field("max_output_tokens", "must be at least 1"));
    }
    let mut config = GenerationConfig {
        temperature: request.temperature,
        top_p: request.top_p,
        max_output_tokens: request.max_output_tokens,
        thinking_config: thinking(request.reasoning.as_ref(), report)?,
        ..GenerationConfig::default()
    };
    if let Some(format) = request.text.as_ref().and_then(|text| text.format.as_ref()) {
        shape(format, &mut config)?;
    }
    Ok((config != GenerationConfig::default()).then_some(config))
}

fn shape(format: &TextFormat, config: &mut GenerationConfig) -> Result<(), Error> {
    match format.r#type.as_str() {
        "" | "text" => {}
        "json_object" => config.response_mime_type = JSON.to_owned(),
        "json_schema" if format.schema.is_empty() => {
            return Err(Error::field("text.format.schema", "is required for `json_schema`"));
        }
        "json_schema" => {
            config.response_mime_type = JSON.to_owned();
            config.response_json_schema = format.schema.clone();
        }
        other => {
            let known = "not `text`, `json_object` or `json_schema`";
            return Err(Error::field("text.format.type", format!("`{other}` is {known}")));
        }
    }
    Ok(())
}

fn thinking(reasoning: Option<&Reasoning>, report: &mut Report) -> Result<Option<ThinkingConfig>, Error> {
    let Some(reasoning) = reasoning else { return Ok(None) };
    let mut config = ThinkingConfig::default();
    match reasoning.effort.as_deref().unwrap_or_default() {
        "" => {}
        "none" => config.thinking_budget = Some(0),
        "minimal" => config.thinking_level = "MINIMAL".to_owned(),
        "low" => config.thinking_level = "LOW".to_owned(),
        "medium" => config.thinking_level = "MEDIUM".to_owned(),
        "high" | "xhigh" | "max" => config.thinking_level = "HIGH".to_owned(),
        other => {
            let known = "none, minimal, low, medium, high";
            return Err(Error::field(
                "reasoning.effort",
                format!("`{other}` is not known; say one of {known}"),
            ));
        }
    }
    let summary = reasoning.summary.as_deref().or(reasoning.generate_summary.as_deref());
    if summary.is_some_and(|summary| !matches!(summary, "" | "none")) {
        config.include_thoughts = Some(true);
    }
    if !reasoning.extra.is_empty() {
        report.ignored("reasoning", "of it, effort and summary are known");
    }
    Ok((config != ThinkingConfig::default()).then_some(config))
}
