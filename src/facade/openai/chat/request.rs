//! A chat completion request in the hub's words. Pure. Every member is said to the model, let pass by a rule, or refused;
//! `docs/protocol/openai.md` has the table.

mod config;
mod foreign;
mod google;
mod media;
mod messages;
mod part;
mod tools;
mod turns;

use serde_json::value::RawValue;

use super::stream::{Answer, Wants};
use crate::domain::error::Error;
use crate::facade::openai::verbosity;
use crate::facade::{Asked, Converted, Remote, Report};
use crate::proto::gemini::{Content, GenerateContentRequest, Part};
use crate::proto::openai::ChatCompletionRequest;
use crate::proto::vendor::Members;

use self::foreign::Besides;
use self::media::Details;
use self::turns::Arranged;

pub fn convert(mut asked: ChatCompletionRequest, about: &Asked<'_>) -> Result<Converted<Answer>, Error> {
    refused(&asked)?;
    if asked.messages.is_empty() {
        return Err(nothing_said(&asked.extra));
    }
    let mut notes = Notes::default();
    ignored(&asked, &mut notes.report);
    let mut out = GenerateContentRequest { model: asked.model.clone(), ..GenerateContentRequest::default() };
    let Besides { mut config, system } = foreign::request(&mut asked, &mut notes)?;
    let offered = tools::convert(&mut asked, &mut notes)?;
    (out.tools, out.tool_config) = (offered.tools, offered.config);
    let said = messages::said(system, std::mem::take(&mut asked.messages), &mut notes)?;
    let Arranged { mut system, contents } = turns::arrange(said, &mut notes.report);
    if contents.is_empty() && system.is_empty() {
        return Err(notes.report.empty("messages"));
    }
    out.contents = contents;
    system.extend(verbosity::hint(&asked.verbosity, "verbosity", &mut notes.report)?);
    config::configure(&asked, &mut config, &mut notes)?;
    google::apply(&asked, &mut out, &mut config, &mut notes.report)?;
    let tier = service_tier(&asked.service_tier, &mut out, &mut notes.report)?;
    if !system.is_empty() {
        let parts = system.into_iter().map(Part::text).collect();
        out.system_instruction = Some(Content { role: String::new(), parts });
    }
    out.generation_config = (config != Default::default()).then_some(config);
    let wants = Wants {
        usage: asked.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true)),
        logprobs: asked.logprobs == Some(true),
        sound: config::sound(&asked)?,
        tier,
        custom: offered.custom,
        legacy: offered.legacy,
        single: offered.single,
    };
    let reply = Answer::new(about, asked.model, wants);
    Ok(Converted { request: out, report: notes.report, remote: notes.remote, reply })
}

/// What is found out on the way through a request.
#[derive(Debug, Default)]
struct Notes {
    report: Report,
    remote: Vec<Remote>,
    details: Details,
}

/// What has no counterpart and would change the answer.
fn refused(asked: &ChatCompletionRequest) -> Result<(), Error> {
    let is_empty = |text: &str| matches!(text.split_whitespace().collect::<String>().as_str(), "" | "{}");
    if !is_empty(&asked.logit_bias) {
        return Err(Error::field(
            "logit_bias",
            "cannot be had: no model here takes weights for tokens; leave it out",
        ));
    }
    if !is_empty(&asked.moderation) {
        return Err(Error::field(
            "moderation",
            "is not offered; leave it out and moderate with a call of your own",
        ));
    }
    Ok(())
}

/// What has no effect on an answer, and why.
fn ignored(asked: &ChatCompletionRequest, report: &mut Report) {
    const CACHED: &str = "the model keeps what it has read by itself";
    let obfuscation = asked.stream_options.as_ref().is_some_and(|o| o.include_obfuscation == Some(true));
    let said = [
        (!asked.user.is_empty(), "user", "nobody is told who asks"),
        (!asked.safety_identifier.is_empty(), "safety_identifier", "nobody is told who asks"),
        (!asked.metadata.is_empty(), "metadata", "nothing is kept that it could be found by"),
        (asked.store == Some(true), "store", "chat completions are not kept"),
        (!asked.prompt_cache_key.is_empty(), "prompt_cache_key", CACHED),
        (!asked.prompt_cache_retention.is_empty(), "prompt_cache_retention", CACHED),
        (!asked.prompt_cache_options.is_empty(), "prompt_cache_options", CACHED),
        (!asked.prediction.is_empty(), "prediction", "it would only make the answer come sooner"),
        (obfuscation, "stream_options.include_obfuscation", "events are as long as what they say"),
    ];
    said.iter().filter(|(is_said, ..)| *is_said).for_each(|(_, field, why)| report.ignored(*field, why));
}

/// Bodies of other APIs land here too, and say the same in another member.
fn nothing_said(extra: &str) -> Error {
    let members = serde_json::from_str::<Members>(extra).map(|members| members.0).unwrap_or_default();
    let has = |name: &str| members.iter().any(|(known, _)| known == name);
    match (has("input"), has("contents")) {
        (true, _) => Error::field("input", "is for the Responses API; post this body to /v1/responses"),
        (_, true) => Error::field(
            "contents",
            "is for Gemini's API; post this body to /v1beta/models/MODEL:generateContent",
        ),
        _ => Error::field("messages", "is required"),
    }
}

/// Asks for a tier, and returns what the answer is said to be served with; nothing where none was asked for.
fn service_tier(
    tier: &str,
    out: &mut GenerateContentRequest,
    report: &mut Report,
) -> Result<&'static str, Error> {
    let (theirs, told) = match tier {
        "" => return Ok(""),
        "auto" | "default" => return Ok("default"),
        "scale" => {
            report.altered("service_tier", "there is none of this name; the standard one is used");
            return Ok("default");
        }
        "flex" => ("flex", "flex"),
        "priority" | "fast" => ("priority", "priority"),
        _ => {
            return Err(Error::field("service_tier", "must be auto, default, flex, scale, priority or fast"));
        }
    };
    out.extra = with_member(&out.extra, "serviceTier", &format!("\"{theirs}\""));
    Ok(told)
}

/// An object (JSON text) with one more member, whose value is JSON text.
fn with_member(object: &str, name: &str, value: &str) -> String {
    let before = object.trim_end().strip_suffix('}').filter(|inner| inner.trim() != "{").unwrap_or_default();
    let comma = if before.is_empty() { "{" } else { "," };
    format!("{before}{comma}\"{name}\":{value}}}")
}

/// The members of an object (JSON text); none if it is nothing of the kind.
fn members(object: &str) -> Vec<(String, Box<RawValue>)> {
    if object.is_empty() {
        return Vec::new();
    }
    serde_json::from_str(object).map(|Members(members)| members).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_added_behind_others() {
        let one = with_member("", "a", "1");
        assert_eq!(
            (one.as_str(), with_member(&one, "b", "{}").as_str()),
            (r#"{"a":1}"#, r#"{"a":1,"b":{}}"#)
        );
        assert_eq!(with_member("{}", "a", "1"), r#"{"a":1}"#);
    }
}
