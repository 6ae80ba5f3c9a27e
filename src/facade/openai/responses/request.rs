//! A request in the words of the hub. Every field is mapped, ignored by rule, or refused.

mod config;

use super::history;
use super::input::Turns;
use super::stream::{Answer, Include};
use super::tools::{Tools, choose};
use super::{ENCRYPTED, SOURCES, echo};
use crate::domain::error::Error;
use crate::facade::openai::verbosity;
use crate::facade::{Asked, Converted, Report};
use crate::proto::gemini::GenerateContentRequest;
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::{CreateResponseRequest, Item};
use crate::proto::vendor;

/// `earlier` is what was said before in the stored conversation, the oldest first; references in the input are resolved.
pub fn convert(
    request: CreateResponseRequest,
    earlier: Vec<Item>,
    asked: &Asked<'_>,
) -> Result<Converted<Answer>, Error> {
    let mut report = Report::default();
    refuse(&request)?;
    tell(&request, &mut report);
    let generation_config = config::generation(&request, &mut report)?;
    let opening = echo::opening(&request, asked);
    let items = history::items(request.input);
    if items.is_empty() && earlier.is_empty() {
        return Err(Error::field("input", "is required: say something"));
    }
    let mut tools = Tools::default();
    tools.add(&request.tools, "tools", &mut report)?;
    further(&mut tools, &earlier, "previous_response_id", &mut report)?;
    further(&mut tools, &items, "input", &mut report)?;
    let tool_config = choose(&mut tools, request.tool_choice.as_ref(), &mut report)?;
    let verbosity = request.text.as_ref().map(|text| text.verbosity.as_str()).unwrap_or_default();
    let hint = verbosity::hint(verbosity, "text.verbosity", &mut report)?;
    let instructions = request.instructions.into_iter().filter(|given| !given.is_empty()).chain(hint);
    let mut turns = Turns::new(instructions.collect::<Vec<_>>().join("\n\n"));
    turns.read(earlier, "previous_response_id", &tools, &mut report)?;
    turns.read(items, "input", &tools, &mut report)?;
    let said = turns.finish(&mut report);
    if said.contents.is_empty() && said.system.is_none() {
        return Err(report.empty("input"));
    }
    let hub = GenerateContentRequest {
        model: request.model,
        contents: said.contents,
        system_instruction: said.system,
        tools: tools.declared(),
        tool_config,
        generation_config,
        extra: tier(&request.service_tier),
        ..GenerateContentRequest::default()
    };
    let reply = Answer::new(opening, tools, Include::of(&request.include), asked.id);
    Ok(Converted { request: hub, report, remote: said.remote, reply })
}

/// Tools that came along with the conversation.
fn further(tools: &mut Tools, items: &[Item], at: &str, report: &mut Report) -> Result<(), Error> {
    for (index, item) in items.iter().enumerate() {
        if let Some(Kind::AdditionalTools(more)) = &item.item {
            tools.add(&more.tools, &format!("{at}[{index}].tools"), report)?;
        }
    }
    Ok(())
}

/// What would make the answer another one than the client counts on.
fn refuse(request: &CreateResponseRequest) -> Result<(), Error> {
    let raw = [
        ("conversation", &request.conversation, "is not kept here; go on with previous_response_id"),
        ("prompt", &request.prompt, "templates are not kept here; send their text"),
        ("moderation", &request.moderation, "nobody moderates here; leave it out"),
    ];
    if let Some((field, _, why)) = raw.into_iter().find(|(_, value, _)| !value.is_empty()) {
        return Err(Error::field(field, why));
    }
    if request.background == Some(true) && request.store == Some(false) {
        return Err(Error::field("background", "needs `store`: what runs on its own is asked for later"));
    }
    Ok(())
}

/// What is let pass.
fn tell(request: &CreateResponseRequest, report: &mut Report) {
    let set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let cache = "what stays the same is cached by itself";
    let who = "nobody is told who asks";
    for (field, there, why) in [
        ("prompt_cache_key", set(&request.prompt_cache_key), cache),
        ("prompt_cache_options", !request.prompt_cache_options.is_empty(), cache),
        ("prompt_cache_retention", !request.prompt_cache_retention.is_empty(), cache),
        ("user", set(&request.user), who),
        ("safety_identifier", set(&request.safety_identifier), who),
        ("client_metadata", !request.client_metadata.is_empty(), "it has no effect on the answer"),
        ("access_programs", !request.access_programs.is_empty(), "it has no effect on the answer"),
        ("stream_options", !request.stream_options.is_empty(), "events carry no padding"),
    ] {
        if there {
            report.ignored(field, why);
        }
    }
    for (field, there, why) in [
        ("max_tool_calls", request.max_tool_calls.is_some(), "the model's own tools cannot be counted"),
        ("top_logprobs", request.top_logprobs.is_some_and(|n| n > 0), "responses here have no probabilities"),
        (
            "truncation",
            request.truncation.as_deref() == Some("auto"),
            "nothing is cut; a long input is refused",
        ),
        ("context_management", !request.context_management.is_empty(), "nothing is compacted here"),
        ("image", !request.image.is_empty(), "no pictures are made here"),
    ] {
        if there {
            report.dropped(field, why);
        }
    }
    if request.parallel_tool_calls == Some(false) {
        report.altered("parallel_tool_calls", "of several calls at once only the first is passed on");
    }
    unknown(request, report);
}

fn unknown(request: &CreateResponseRequest, report: &mut Report) {
    let known = [ENCRYPTED, SOURCES, "code_interpreter_call.outputs"];
    for (at, include) in request.include.iter().enumerate() {
        if !known.contains(&include.as_str()) {
            report.dropped(format!("include[{at}]"), &format!("{include} is not there to be included"));
        }
    }
    let extra: serde_json::Map<String, serde_json::Value> = vendor::kept(&request.extra).unwrap_or_default();
    for name in extra.keys() {
        report.ignored(name, "the API has no such field");
    }
}

/// How soon; most names mean the usual.
fn tier(name: &str) -> String {
    match name {
        "flex" => r#"{"serviceTier":"flex"}"#.to_owned(),
        "priority" | "fast" => r#"{"serviceTier":"priority"}"#.to_owned(),
        _ => String::new(),
    }
}
