//! Whether the model may, must or must not call, and what.

use serde_json::Value;

use super::{Form, Tools};
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::{FunctionCallingConfig, ToolConfig};
use crate::proto::openai::response_tool_choice::Choice;
use crate::proto::openai::{AllowedTools, ResponseToolChoice};
use crate::proto::vendor;

/// None where the model decides as it always does.
pub(in crate::facade::openai::responses) fn choose(
    tools: &mut Tools,
    choice: Option<&ResponseToolChoice>,
    report: &mut Report,
) -> Result<Option<ToolConfig>, Error> {
    let Some(ResponseToolChoice { choice, extra }) = choice else { return Ok(free(tools)) };
    match choice {
        None if extra.is_empty() => Ok(free(tools)),
        None => hosted(tools, extra, report),
        Some(Choice::Mode(mode)) => by_mode(tools, mode, "tool_choice"),
        Some(Choice::Function(named)) => one(tools, Form::Function, &named.name),
        Some(Choice::Custom(named)) => one(tools, Form::Custom, &named.name),
        Some(Choice::AllowedTools(allowed)) => some(tools, allowed, report),
    }
}

fn config(mode: &str, allowed_function_names: Vec<String>) -> Option<ToolConfig> {
    let calling = FunctionCallingConfig { mode: mode.to_owned(), allowed_function_names };
    Some(ToolConfig { function_calling_config: Some(calling), ..ToolConfig::default() })
}

fn free(tools: &Tools) -> Option<ToolConfig> {
    if tools.strict { config("VALIDATED", Vec::new()) } else { None }
}

fn by_mode(tools: &Tools, mode: &str, at: &str) -> Result<Option<ToolConfig>, Error> {
    match mode {
        "auto" => Ok(free(tools)),
        "none" if tools.declarations.is_empty() => Ok(None),
        "none" => Ok(config("NONE", Vec::new())),
        "required" if tools.declarations.is_empty() => {
            Err(Error::field(at, "`required` needs a tool that can be called; offer one"))
        }
        "required" => Ok(config("ANY", Vec::new())),
        other => Err(Error::field(at, format!("`{other}` is not `none`, `auto` or `required`"))),
    }
}

fn one(tools: &Tools, form: Form, name: &str) -> Result<Option<ToolConfig>, Error> {
    match find(tools, form, name) {
        Some(hub) => Ok(config("ANY", vec![hub])),
        None => Err(Error::field("tool_choice.name", format!("there is no tool `{name}` among the tools"))),
    }
}

/// A name that stands in a namespace may come with it or without.
fn find(tools: &Tools, form: Form, name: &str) -> Option<String> {
    let fits = |known: &&super::Known| known.form == form && (known.name == name || known.hub == name);
    tools.known.iter().find(fits).map(|known| known.hub.clone())
}

fn hosted(tools: &Tools, extra: &str, report: &mut Report) -> Result<Option<ToolConfig>, Error> {
    let choice: Value = vendor::kept(extra).unwrap_or_default();
    let kind = choice["type"].as_str().unwrap_or_default();
    for (name, form) in
        [("local_shell", Form::LocalShell), ("shell", Form::Shell), ("apply_patch", Form::ApplyPatch)]
    {
        if kind == name {
            return one(tools, form, name);
        }
    }
    if kind.starts_with("web_search") || kind == "code_interpreter" {
        report.altered("tool_choice", "the model decides itself whether it uses its own tools");
        return Ok(free(tools));
    }
    Err(Error::field("tool_choice", format!("`{kind}` cannot be chosen; name a function")))
}

fn some(tools: &mut Tools, allowed: &AllowedTools, report: &mut Report) -> Result<Option<ToolConfig>, Error> {
    let mut names = Vec::new();
    for (at, tool) in allowed.tools.iter().enumerate() {
        let tool: Value = vendor::kept(tool).unwrap_or_default();
        let name = tool["name"].as_str().unwrap_or_default();
        let form = if tool["type"] == "custom" { Form::Custom } else { Form::Function };
        match find(tools, form, name) {
            Some(hub) => names.push(hub),
            None if name.is_empty() => {}
            None => {
                report.dropped(format!("tool_choice.tools[{at}]"), "there is no such tool among the tools");
            }
        }
    }
    match allowed.mode.as_str() {
        // The model takes a list of names only where it must call.
        "required" if !names.is_empty() => Ok(config("ANY", names)),
        mode => {
            tools.keep(&names);
            by_mode(tools, if mode.is_empty() { "auto" } else { mode }, "tool_choice.mode")
        }
    }
}
