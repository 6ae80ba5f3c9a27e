//! Tools in the shapes of other APIs: flat functions, Anthropic's, Gemini's, and those that run on the model's side.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Met;
use crate::domain::error::Error;
use crate::facade::Report;
use crate::facade::openai::chat::request::members;
use crate::proto::gemini;
use crate::proto::openai::FunctionDefinition;
use crate::proto::vendor;

/// By what types begin with.
const OWN: [(&str, &str); 6] = [
    ("web_search", "googleSearch"),
    ("google_search", "googleSearch"),
    ("web_fetch", "urlContext"),
    ("url_context", "urlContext"),
    ("code_interpreter", "codeExecution"),
    ("code_execution", "codeExecution"),
];

/// As Gemini's own requests name them.
const GEMINI: [(&str, &str); 6] = [
    ("googleSearch", "googleSearch"),
    ("google_search", "googleSearch"),
    ("urlContext", "urlContext"),
    ("url_context", "urlContext"),
    ("codeExecution", "codeExecution"),
    ("code_execution", "codeExecution"),
];

#[derive(Deserialize, Default)]
#[serde(default)]
struct Flat {
    r#type: Option<String>,
    name: String,
    description: Option<String>,
    parameters: Option<Box<RawValue>>,
    input_schema: Option<Box<RawValue>>,
    strict: Option<bool>,
}

pub fn tool(text: &str, at: &str, met: &mut Met, report: &mut Report) -> Result<(), Error> {
    let unknown = || {
        Error::field(format!("{at}.type"), "must be function or custom, with a member of that name beside it")
    };
    let flat: Flat = serde_json::from_str(text).map_err(|_| unknown())?;
    let kind = flat.r#type.clone().unwrap_or_default();
    if matches!(kind.as_str(), "" | "function" | "custom") && !flat.name.is_empty() {
        report.altered(at, "is not in OpenAI's shape; read as a function");
        return met.function(function(flat), at);
    }
    if let Some((_, own)) = OWN.iter().find(|(start, _)| kind.starts_with(start)) {
        report.altered(at, "runs on the model's side, with options of its own");
        met.own(own, "{}".to_owned());
        return Ok(());
    }
    if kind.is_empty() && gemini(text, met) {
        report.altered(at, "is in Gemini's shape; read as what it means there");
        return Ok(());
    }
    Err(unknown())
}

fn function(flat: Flat) -> FunctionDefinition {
    let schema = flat.input_schema.or(flat.parameters).filter(|schema| schema.get() != "null");
    FunctionDefinition {
        name: flat.name,
        description: flat.description.unwrap_or_default(),
        parameters: schema.map(|schema| schema.get().to_owned()).unwrap_or_default(),
        strict: flat.strict,
    }
}

/// Whether it was one.
fn gemini(text: &str, met: &mut Met) -> bool {
    let Ok(tool) = vendor::decode::<gemini::Tool>(text.as_bytes()) else { return false };
    let before = met.functions.len() + met.own.len();
    met.functions.extend(tool.function_declarations);
    for (name, value) in members(&tool.extra) {
        if let Some((_, own)) = GEMINI.iter().find(|(known, _)| *known == name) {
            met.own(own, value.get().to_owned());
        }
    }
    met.functions.len() + met.own.len() > before
}
