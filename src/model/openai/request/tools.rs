//! Functions, and whether they may, must or must not be called.

use super::{Dropped, schema};
use crate::proto::gemini::{self, FunctionCallingConfig, FunctionDeclaration, ToolConfig};
use crate::proto::openai::tool::Tool as Kind;
use crate::proto::openai::tool_choice::Choice;
use crate::proto::openai::{FunctionDefinition, NamedTool, Tool, ToolChoice};

/// Some servers want a schema also where there is nothing to say.
const NO_PARAMETERS: &str = r#"{"type":"object","properties":{}}"#;

pub fn tools(
    tools: Vec<gemini::Tool>,
    config: Option<ToolConfig>,
    dropped: &mut Dropped,
) -> (Vec<Tool>, Option<ToolChoice>) {
    let config = config.unwrap_or_default();
    dropped.members("toolConfig", &config.extra);
    let calling = config.function_calling_config.unwrap_or_default();
    let mut offered = Vec::new();
    for (index, tool) in tools.into_iter().enumerate() {
        // Such as `googleSearch`, which runs on Google's side.
        dropped.members(&format!("tools[{index}]"), &tool.extra);
        for (at, function) in tool.function_declarations.into_iter().enumerate() {
            let path = format!("tools[{index}].functionDeclarations[{at}]");
            offered.extend(offer(function, &calling, &path, dropped));
        }
    }
    // Without tools a choice is refused.
    let choice = if offered.is_empty() { None } else { choice(&calling, dropped) };
    (offered, choice)
}

/// To allow only some is to offer no others: that is understood everywhere.
fn offer(
    function: FunctionDeclaration,
    calling: &FunctionCallingConfig,
    path: &str,
    dropped: &mut Dropped,
) -> Option<Tool> {
    let allowed = &calling.allowed_function_names;
    if !allowed.is_empty() && !allowed.contains(&function.name) {
        return None;
    }
    if !function.response.is_empty() {
        dropped.note(format!("{path}.response"));
    }
    if !function.response_json_schema.is_empty() {
        dropped.note(format!("{path}.responseJsonSchema"));
    }
    let parameters = match (function.parameters_json_schema, function.parameters) {
        (schema, _) if !schema.is_empty() => schema,
        (_, parameters) if !parameters.is_empty() => schema::json_schema(&parameters),
        _ => NO_PARAMETERS.to_owned(),
    };
    let function = FunctionDefinition {
        name: function.name,
        description: function.description,
        parameters,
        strict: None,
    };
    Some(Tool { tool: Some(Kind::Function(function)), ..Tool::default() })
}

fn choice(calling: &FunctionCallingConfig, dropped: &mut Dropped) -> Option<ToolChoice> {
    let mode = |mode: &str| Choice::Mode(mode.to_owned());
    let choice = match (calling.mode.as_str(), calling.allowed_function_names.as_slice()) {
        ("" | "MODE_UNSPECIFIED", _) => return None,
        ("AUTO", _) => mode("auto"),
        ("NONE", _) => mode("none"),
        ("ANY", [name]) => Choice::Function(NamedTool { name: name.clone() }),
        ("ANY", _) => mode("required"),
        // Also VALIDATED: arguments by the schema are not promised there.
        _ => {
            dropped.note("toolConfig.functionCallingConfig.mode");
            mode("auto")
        }
    };
    Some(ToolChoice { choice: Some(choice), ..ToolChoice::default() })
}
