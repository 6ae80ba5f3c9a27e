//! A request in the words of the hub.

use super::Answer;
use super::settings::{self, Show};
use super::stream::Wanted;
use super::tools;
use super::turns;
use super::version::Version;
use super::work::{Work, at};
use crate::domain::error::Error;
use crate::facade::{Asked, Converted, Remote};
use crate::proto::anthropic::block::Block as Kind;
use crate::proto::anthropic::{Content, CountTokensRequest, CreateMessageRequest, content};
use crate::proto::gemini as hub;
use crate::proto::gemini::{GenerateContentRequest, Part};

pub fn convert(request: CreateMessageRequest, asked: &Asked<'_>) -> Result<Converted<Answer>, Error> {
    let warm = request.max_tokens == Some(0);
    let model = request.model.clone();
    let parallel = request.tool_choice.as_ref().is_none_or(|c| c.disable_parallel_tool_use != Some(true));
    let (request, show, work) = whole(request, asked.version)?;
    let wanted = Wanted { id: asked.id.to_owned(), model, show, parallel, warm };
    Ok(Converted { request, report: work.report, remote: work.remote, reply: Answer::new(wanted) })
}

/// How long it is, with everything that a model would be told.
pub fn count(
    request: CountTokensRequest,
    version: &str,
) -> Result<(GenerateContentRequest, Vec<Remote>), Error> {
    let CountTokensRequest {
        model,
        messages,
        system,
        tools,
        tool_choice,
        thinking,
        output_config,
        cache_control,
        context_management,
        mcp_servers,
        output_format,
        extra,
    } = request;
    let whole_request = CreateMessageRequest {
        model,
        messages,
        system,
        tools,
        tool_choice,
        thinking,
        output_config,
        cache_control,
        context_management,
        mcp_servers,
        output_format,
        extra,
        ..CreateMessageRequest::default()
    };
    let (request, _, work) = whole(whole_request, version)?;
    Ok((request, work.remote))
}

fn whole(
    mut request: CreateMessageRequest,
    version: &str,
) -> Result<(GenerateContentRequest, Show, Work), Error> {
    let mut work = Work::new(Version::of(version)?);
    pass_by(&request, &mut work)?;
    let (generation_config, show) = settings::convert(&mut request, &mut work)?;
    let mut parts = system(request.system.take(), &mut work)?;
    let (leading, contents) = turns::convert(std::mem::take(&mut request.messages), &mut work)?;
    parts.extend(leading);
    if contents.is_empty() {
        return Err(work.report.empty("messages"));
    }
    let (tools, tool_config) =
        tools::convert(std::mem::take(&mut request.tools), request.tool_choice, &mut work)?;
    let instruction = hub::Content { parts, ..hub::Content::default() };
    let request = GenerateContentRequest {
        model: request.model,
        contents,
        system_instruction: (!instruction.parts.is_empty()).then_some(instruction),
        tools,
        tool_config,
        generation_config: Some(generation_config),
        ..GenerateContentRequest::default()
    };
    Ok((request, show, work))
}

/// What has no effect here, and what would have one that nobody can give.
fn pass_by(request: &CreateMessageRequest, work: &mut Work) -> Result<(), Error> {
    if !request.mcp_servers.is_empty() {
        return Err(Error::field("mcp_servers", "are not called from here; offer their tools in `tools`"));
    }
    if !matches!(request.inference_geo.as_str(), "" | "global" | "not_specified") {
        return Err(Error::field("inference_geo", "is not for this server to promise; leave it out"));
    }
    work.cache_control("", &request.cache_control);
    let user = request.metadata.as_ref().map(|metadata| metadata.user_id.as_str()).unwrap_or_default();
    for (field, value, why) in [
        ("metadata.user_id", user, "no model is told who asks"),
        ("service_tier", &request.service_tier, "there is one tier"),
        ("speed", &request.speed, "there is one speed"),
        ("user_profile_id", &request.user_profile_id, "no model is told who asks"),
        ("diagnostics", &request.diagnostics, "there are none"),
        ("context_management", &request.context_management, "the model is told the whole conversation"),
    ] {
        if !value.is_empty() {
            work.report.ignored(field, why);
        }
    }
    if !request.container.is_empty() {
        work.report.dropped("container", "code runs on the model's side, in a container of its own");
    }
    if let Some(metadata) = &request.metadata {
        work.unknown("metadata", &metadata.extra);
    }
    work.unknown("", &request.extra);
    Ok(())
}

/// What Claude Code puts before its system prompt, another in each session: no prefix would ever be cached.
const ATTRIBUTION: &str = "x-anthropic-billing-header:";

fn system(system: Option<Content>, work: &mut Work) -> Result<Vec<Part>, Error> {
    let blocks = match system.and_then(|system| system.kind) {
        None => return Ok(Vec::new()),
        Some(content::Kind::Text(text)) if text.is_empty() => return Ok(Vec::new()),
        Some(content::Kind::Text(text)) => return Ok(vec![Part::text(text)]),
        Some(content::Kind::Blocks(blocks)) => blocks.blocks,
    };
    let mut parts = Vec::new();
    for (index, block) in blocks.into_iter().enumerate() {
        let path = format!("system[{index}]");
        let Some(Kind::Text(text)) = block.block else {
            return Err(Error::field(path, "must be a text block"));
        };
        work.cache_control(&path, &text.cache_control);
        work.unknown(&path, &text.extra);
        if index == 0 && text.text.starts_with(ATTRIBUTION) {
            work.report.ignored(at(&path, "text"), "the attribution is not for the model");
        } else if !text.text.is_empty() {
            parts.push(Part::text(text.text));
        }
    }
    Ok(parts)
}
