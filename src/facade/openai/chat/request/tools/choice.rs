//! Whether the model may, must or must not call, in all the ways that clients say it.

use serde::Deserialize;
use serde_json::Value;

use super::Met;
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::{FunctionCallingConfig, ToolConfig};
use crate::proto::openai::tool_choice::Choice as Wire;
use crate::proto::openai::{AllowedTools, ChatCompletionRequest, NamedTool, ToolChoice};
use crate::proto::vendor;

const WORDS: &str = "must be none, auto, required, or name a tool";

#[derive(Debug, Default)]
pub struct Choice {
    /// Where it stood.
    field: &'static str,
    mode: Mode,
    /// Only these, where there are any.
    names: Vec<String>,
    /// One call at a time.
    pub single: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nobody said anything.
    #[default]
    Unsaid,
    Auto,
    Must,
    None,
}

impl Mode {
    fn of(word: &str, field: &str) -> Result<Self, Error> {
        match word {
            "auto" => Ok(Self::Auto),
            // Anthropic's word.
            "required" | "any" => Ok(Self::Must),
            "none" => Ok(Self::None),
            _ => Err(Error::field(field, WORDS)),
        }
    }
}

pub fn of(asked: &mut ChatCompletionRequest, report: &mut Report) -> Result<Choice, Error> {
    if let Some(choice) = asked.tool_choice.take() {
        return Ok(Choice { field: "tool_choice", ..tool_choice(choice, report)? });
    }
    if asked.function_call.is_empty() {
        return Ok(Choice::default());
    }
    let field = "function_call";
    let choice = match serde_json::from_str(&asked.function_call) {
        Ok(Value::String(mode)) => Choice { mode: Mode::of(&mode, field)?, ..Choice::default() },
        Ok(Value::Object(named)) => match named.get("name").and_then(Value::as_str) {
            Some(name) => one(name),
            None => return Err(Error::field("function_call.name", "is required")),
        },
        _ => return Err(Error::field(field, WORDS)),
    };
    Ok(Choice { field, ..choice })
}

fn one(name: &str) -> Choice {
    Choice { mode: Mode::Must, names: vec![name.to_owned()], ..Choice::default() }
}

fn tool_choice(choice: ToolChoice, report: &mut Report) -> Result<Choice, Error> {
    match choice.choice {
        Some(Wire::Mode(mode)) => Ok(Choice { mode: Mode::of(&mode, "tool_choice")?, ..Choice::default() }),
        Some(Wire::Function(NamedTool { name }) | Wire::Custom(NamedTool { name })) => Ok(one(&name)),
        Some(Wire::AllowedTools(allowed)) => some(allowed),
        None => foreign(&choice.extra, report),
    }
}

fn some(allowed: AllowedTools) -> Result<Choice, Error> {
    let field = "tool_choice.allowed_tools";
    let mode = Mode::of(&allowed.mode, &format!("{field}.mode"))?;
    let mut names = Vec::new();
    for (at, tool) in allowed.tools.iter().enumerate() {
        let tool: Value = vendor::kept(tool).unwrap_or_default();
        let places = ["/function/name", "/custom/name", "/name"];
        match places.iter().find_map(|place| tool.pointer(place)).and_then(Value::as_str) {
            Some(name) => names.push(name.to_owned()),
            None => return Err(Error::field(format!("{field}.tools[{at}]"), "names no function")),
        }
    }
    if names.is_empty() {
        return Err(Error::field(format!("{field}.tools"), "is empty; use none to allow no tool"));
    }
    Ok(Choice { mode, names, ..Choice::default() })
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Foreign {
    r#type: String,
    name: String,
    disable_parallel_tool_use: bool,
}

/// Anthropic's way, and that of the Responses API.
fn foreign(text: &str, report: &mut Report) -> Result<Choice, Error> {
    let Ok(choice) = serde_json::from_str::<Foreign>(text) else {
        return Err(Error::field("tool_choice", WORDS));
    };
    let found = match (choice.r#type.as_str(), choice.name.as_str()) {
        ("tool" | "function" | "custom", name) if !name.is_empty() => one(name),
        (mode, _) => Choice { mode: Mode::of(mode, "tool_choice.type")?, ..Choice::default() },
    };
    report.altered("tool_choice", "belongs to another API; read as what it means there");
    Ok(Choice { single: choice.disable_parallel_tool_use, ..found })
}

impl Choice {
    /// Also takes away what must not be offered.
    pub fn apply(self, met: &mut Met) -> Result<Option<ToolConfig>, Error> {
        let is_offered = |name: &String| met.functions.iter().any(|function| function.name == *name);
        if let Some(missing) = self.names.iter().find(|name| !is_offered(name)) {
            return Err(Error::field(self.field, format!("names {missing:?}, which is not among the tools")));
        }
        if self.mode == Mode::Must && met.functions.is_empty() {
            return Err(Error::field(self.field, "wants a call, and no function is offered"));
        }
        if met.functions.is_empty() {
            return Ok(None);
        }
        let (mode, names) = match self.mode {
            Mode::None => ("NONE", Vec::new()),
            Mode::Must => ("ANY", self.names),
            Mode::Unsaid | Mode::Auto => {
                // Names beside AUTO are refused, so the others are not even offered.
                if !self.names.is_empty() {
                    met.functions.retain(|function| self.names.contains(&function.name));
                }
                let mode = if met.strict { "VALIDATED" } else { "AUTO" };
                (if self.mode == Mode::Unsaid && !met.strict { "" } else { mode }, Vec::new())
            }
        };
        Ok((!mode.is_empty()).then(|| ToolConfig {
            function_calling_config: Some(FunctionCallingConfig {
                mode: mode.to_owned(),
                allowed_function_names: names,
            }),
            ..ToolConfig::default()
        }))
    }
}
