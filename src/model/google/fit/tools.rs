//! Tools: functions and those that run on the model's side, each kind by itself, and which of them may be called.

use serde_json::value::RawValue;

use super::super::Abilities;
use super::Changes;
use crate::proto::gemini::{FunctionCallingConfig, GenerateContentRequest, Tool};
use crate::proto::vendor::Members;

const INVOCATIONS: &str = "includeServerSideToolInvocations";
const ALLOWED: &str = "toolConfig.functionCallingConfig.allowedFunctionNames";

pub(super) fn fit(request: &mut GenerateContentRequest, abilities: &Abilities, changes: &mut Changes) {
    if let Some(calling) =
        request.tool_config.as_mut().and_then(|config| config.function_calling_config.as_mut())
    {
        allow(calling, &mut request.tools, changes);
    }
    let functions = request.tools.iter().any(|tool| !tool.function_declarations.is_empty());
    if functions && request.tools.iter().any(|tool| !tool.extra.is_empty()) {
        match abilities.own_tools_beside_functions {
            true => beside(request),
            false => without_own(&mut request.tools, changes),
        }
    }
}

/// Names are taken only where a call is wanted; else those that may not be called are not offered.
fn allow(calling: &mut FunctionCallingConfig, tools: &mut Vec<Tool>, changes: &mut Changes) {
    if calling.allowed_function_names.is_empty() {
        return;
    }
    let offered = |name: &String| {
        tools.iter().flat_map(|tool| &tool.function_declarations).any(|function| function.name == *name)
    };
    let (known, unknown): (Vec<_>, Vec<_>) =
        std::mem::take(&mut calling.allowed_function_names).into_iter().partition(offered);
    for name in &unknown {
        changes.dropped(ALLOWED, format!("there is no function {name}"));
    }
    match calling.mode.as_str() {
        "ANY" | "VALIDATED" => calling.allowed_function_names = known,
        "NONE" => {}
        _ => {
            for tool in tools.iter_mut() {
                tool.function_declarations.retain(|function| known.contains(&function.name));
            }
            tools.retain(|tool| !tool.function_declarations.is_empty() || !tool.extra.is_empty());
        }
    }
}

/// Each kind is a tool of its own, and what the model's own tools say comes along.
fn beside(request: &mut GenerateContentRequest) {
    for tool in std::mem::take(&mut request.tools) {
        request.tools.extend(apart(&tool.extra));
        if !tool.function_declarations.is_empty() {
            request.tools.push(Tool { extra: String::new(), ..tool });
        }
    }
    let config = request.tool_config.get_or_insert_default();
    let mut members = members(&config.extra);
    let names = [INVOCATIONS, "include_server_side_tool_invocations"];
    if members.iter().any(|(name, _)| names.contains(&name.as_str())) {
        return;
    }
    if let Ok(yes) = RawValue::from_string("true".to_owned()) {
        members.push((INVOCATIONS.to_owned(), yes));
        config.extra = printed(&members);
    }
}

fn apart(extra: &str) -> Vec<Tool> {
    let tool = |member| Tool { extra: printed(&[member]), ..Tool::default() };
    members(extra).into_iter().map(tool).collect()
}

fn members(extra: &str) -> Vec<(String, Box<RawValue>)> {
    serde_json::from_str(extra).map(|Members(members)| members).unwrap_or_default()
}

fn printed(members: &[(String, Box<RawValue>)]) -> String {
    let member = |(name, value): &(String, Box<RawValue>)| {
        format!("{}:{}", serde_json::Value::from(name.as_str()), value.get())
    };
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

fn without_own(tools: &mut Vec<Tool>, changes: &mut Changes) {
    for (at, tool) in tools.iter_mut().enumerate() {
        for (name, _) in members(&std::mem::take(&mut tool.extra)) {
            changes.dropped(
                format!("tools[{at}].{name}"),
                "this model takes no tool of its own beside functions",
            );
        }
    }
    tools.retain(|tool| !tool.function_declarations.is_empty());
}
