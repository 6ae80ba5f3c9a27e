//! How the model answers: length, samplers, thinking, shape.

use super::version::Version;
use super::work::{Work, at};
use crate::domain::error::Error;
use crate::proto::anthropic::{CreateMessageRequest, OutputFormat, Thinking};
use crate::proto::gemini::{GenerationConfig, ThinkingConfig};

/// What becomes of thoughts on their way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// Nobody asked for them.
    Hidden,
    /// That there were some.
    Omitted,
    Whole,
}

/// The least that the vendor takes.
const LEAST_BUDGET: i32 = 1024;

pub(super) fn convert(
    request: &mut CreateMessageRequest,
    work: &mut Work,
) -> Result<(GenerationConfig, Show), Error> {
    samplers(request, work)?;
    let (thinking, show) = thinking(request, work)?;
    let length = length(request.max_tokens)?;
    // Without thoughts that were asked for, all of it is for what can be seen.
    let (visible, whole) = if show == Show::Hidden { (length, None) } else { (None, length) };
    work.report.ours("generationConfig.visibleOutputTokens");
    let mut config = GenerationConfig {
        temperature: request.temperature,
        top_p: request.top_p,
        top_k: request.top_k,
        max_output_tokens: whole,
        visible_output_tokens: visible,
        stop_sequences: std::mem::take(&mut request.stop_sequences),
        thinking_config: thinking,
        ..GenerationConfig::default()
    };
    if let Some((path, format)) = format(request, work)? {
        if format.r#type != "json_schema" || format.schema.is_empty() {
            return Err(Error::field(path, "must have the type `json_schema` and a schema"));
        }
        work.unknown(path, &format.extra);
        config.response_mime_type = "application/json".to_owned();
        config.response_json_schema = format.schema;
    }
    Ok((config, show))
}

fn samplers(request: &CreateMessageRequest, work: &Work) -> Result<(), Error> {
    let given = [("temperature", request.temperature), ("top_p", request.top_p), ("top_k", request.top_k)];
    match given.iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) => work.refuse_if_new(name, "is no longer part of the API; leave it out"),
        None => Ok(()),
    }
}

/// Nothing is asked for less than one token.
fn length(max_tokens: Option<i32>) -> Result<Option<i32>, Error> {
    match max_tokens {
        Some(..0) => Err(Error::field("max_tokens", "must not be negative")),
        most => Ok(most.map(|most| most.max(1))),
    }
}

fn format(
    request: &mut CreateMessageRequest,
    work: &mut Work,
) -> Result<Option<(&'static str, OutputFormat)>, Error> {
    let config = request.output_config.take().unwrap_or_default();
    work.unknown("output_config", &config.extra);
    match (config.format, request.output_format.take()) {
        (Some(_), Some(_)) => {
            Err(Error::field("output_format", "is the older name of output_config.format; give one of them"))
        }
        (Some(format), None) => Ok(Some(("output_config.format", format))),
        (None, Some(format)) => Ok(Some(("output_format", format))),
        (None, None) => Ok(None),
    }
}

/// A model that is not told to think does not, where it can do without.
fn thinking(
    request: &CreateMessageRequest,
    work: &mut Work,
) -> Result<(Option<ThinkingConfig>, Show), Error> {
    let effort = request.output_config.as_ref().map(|config| config.effort.as_str()).unwrap_or_default();
    let level = level(effort)?;
    let off = ThinkingConfig { thinking_budget: Some(0), ..ThinkingConfig::default() };
    if request.max_tokens == Some(0) {
        work.report.ours("generationConfig.thinkingConfig");
        return Ok((Some(off), Show::Hidden));
    }
    let Some(thinking) = &request.thinking else {
        let config = ThinkingConfig { thinking_level: level.to_owned(), ..ThinkingConfig::default() };
        if level.is_empty() {
            work.report.ours("generationConfig.thinkingConfig");
        }
        return Ok((Some(if level.is_empty() { off } else { config }), Show::Hidden));
    };
    work.unknown("thinking", &thinking.extra);
    let budget = match thinking.r#type.as_str() {
        "disabled" => return Ok((Some(off), Show::Hidden)),
        "adaptive" | "between_tools" => None,
        "enabled" => Some(budget(thinking)?),
        _ => return Err(Error::field(at("thinking", "type"), "must be enabled, adaptive or disabled")),
    };
    if budget.is_some() && !level.is_empty() {
        work.report.dropped("output_config.effort", "the budget of thinking is given");
    }
    let thinking_level = if budget.is_some() { String::new() } else { level.to_owned() };
    let config = ThinkingConfig { include_thoughts: Some(true), thinking_budget: budget, thinking_level };
    Ok((Some(config), show(thinking)?))
}

fn budget(thinking: &Thinking) -> Result<i32, Error> {
    match thinking.budget_tokens {
        Some(budget @ LEAST_BUDGET..) => Ok(budget),
        _ => Err(Error::field("thinking.budget_tokens", format!("must be at least {LEAST_BUDGET}"))),
    }
}

fn show(thinking: &Thinking) -> Result<Show, Error> {
    match thinking.display.as_str() {
        "" | "summarized" => Ok(Show::Whole),
        "omitted" => Ok(Show::Omitted),
        _ => Err(Error::field("thinking.display", "must be summarized or omitted")),
    }
}

fn level(effort: &str) -> Result<&'static str, Error> {
    match effort {
        "" => Ok(""),
        "low" => Ok("LOW"),
        "medium" => Ok("MEDIUM"),
        "high" | "xhigh" | "max" => Ok("HIGH"),
        _ => Err(Error::field("output_config.effort", "must be low, medium, high, xhigh or max")),
    }
}

/// The beginning of an answer, which no model here goes on from.
pub(super) fn prefill(path: &str, work: &mut Work) -> Result<(), Error> {
    if work.version == Version::New {
        return Err(Error::field(
            path,
            "the conversation must end with a user message; no answer can be begun for the model (anthropic-version 2026-10-21)",
        ));
    }
    work.report.altered(path, "the model is asked to go on instead of being in the middle of its answer");
    Ok(())
}
