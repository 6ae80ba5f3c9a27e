//! What the model may call, and whether it must: functions, custom tools as functions with one text, older functions, and
//! tools that run on the model's side.

mod choice;
mod foreign;

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Notes, with_member};
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::{FunctionDeclaration, Tool, ToolConfig};
use crate::proto::openai::tool;
use crate::proto::openai::{ChatCompletionRequest, CustomTool, FunctionDefinition};
use crate::proto::vendor;

use self::choice::Choice;

/// What is offered to the model, and what of it the answer must be turned back by.
#[derive(Debug, Default)]
pub struct Offered {
    pub tools: Vec<Tool>,
    pub config: Option<ToolConfig>,
    /// Functions that are custom tools to the client.
    pub custom: HashSet<String>,
    /// The client knows only functions of before there were tools.
    pub legacy: bool,
    /// Only one call at a time.
    pub single: bool,
}

/// All tools, as far as they were met.
#[derive(Debug, Default)]
struct Met {
    functions: Vec<FunctionDeclaration>,
    /// Each a member of a tool that runs on the model's side (JSON text).
    own: Vec<(String, String)>,
    custom: HashSet<String>,
    strict: bool,
}

pub fn convert(asked: &mut ChatCompletionRequest, notes: &mut Notes) -> Result<Offered, Error> {
    let mut met = Met::default();
    let legacy = asked.tools.is_empty() && !asked.functions.is_empty();
    for (index, tool) in std::mem::take(&mut asked.tools).into_iter().enumerate() {
        let at = format!("tools[{index}]");
        match tool.tool {
            Some(tool::Tool::Function(function)) => met.function(function, &format!("{at}.function"))?,
            Some(tool::Tool::Custom(custom)) => {
                met.custom(custom, &format!("{at}.custom"), &mut notes.report)?;
            }
            None => foreign::tool(&tool.extra, &at, &mut met, &mut notes.report)?,
        }
    }
    for (index, function) in std::mem::take(&mut asked.functions).into_iter().enumerate() {
        met.function(function, &format!("functions[{index}]"))?;
    }
    search(asked, &mut met, &mut notes.report)?;
    let choice = choice::of(asked, &mut notes.report)?;
    let single = legacy || asked.parallel_tool_calls == Some(false) || choice.single;
    if single && !legacy && !met.functions.is_empty() {
        let why = "no model has such a switch: of several calls only the first is passed on";
        notes.report.altered("parallel_tool_calls", why);
    }
    offered(met, choice, legacy, single)
}

fn offered(mut met: Met, choice: Choice, legacy: bool, single: bool) -> Result<Offered, Error> {
    let config = choice.apply(&mut met)?;
    let functions =
        (!met.functions.is_empty()).then(|| Tool { function_declarations: met.functions, ..Tool::default() });
    let own = met
        .own
        .into_iter()
        .map(|(name, value)| Tool { extra: with_member("", &name, &value), ..Tool::default() });
    Ok(Offered {
        tools: functions.into_iter().chain(own).collect(),
        config,
        custom: met.custom,
        legacy,
        single,
    })
}

impl Met {
    fn function(&mut self, function: FunctionDefinition, at: &str) -> Result<(), Error> {
        let FunctionDefinition { name, description, parameters, strict } = function;
        if name.is_empty() {
            return Err(Error::field(format!("{at}.name"), "is required"));
        }
        let schema = parameters.trim();
        if !schema.is_empty() && !schema.starts_with('{') {
            return Err(Error::field(
                format!("{at}.parameters"),
                "must be a JSON schema, which is an object",
            ));
        }
        // Nothing that could be checked.
        let says_nothing = schema.strip_prefix('{').is_some_and(|rest| rest.trim() == "}");
        let parameters_json_schema = if says_nothing { String::new() } else { parameters };
        self.strict |= strict == Some(true);
        self.functions.push(FunctionDeclaration {
            name,
            description,
            parameters_json_schema,
            ..FunctionDeclaration::default()
        });
        Ok(())
    }

    fn custom(&mut self, custom: CustomTool, at: &str, report: &mut Report) -> Result<(), Error> {
        let CustomTool { name, mut description, format } = custom;
        let format: Value = vendor::kept(&format).unwrap_or_default();
        if let Some(grammar) = format.get("grammar").filter(|_| format["type"] == "grammar") {
            let text = |name: &str| grammar[name].as_str().unwrap_or_default().to_owned();
            let rule =
                format!("The input must follow this {} grammar:\n{}", text("syntax"), text("definition"));
            description =
                [description, rule].into_iter().filter(|d| !d.is_empty()).collect::<Vec<_>>().join("\n\n");
            report.altered(format!("{at}.format"), "nothing holds the model to a grammar; it is told of it");
        }
        let schema = json!({
            "type": "object",
            "properties": {"input": {"type": "string", "description": "The input of the tool, as free text."}},
            "required": ["input"],
        });
        self.custom.insert(name.clone());
        self.function(
            FunctionDefinition { name, description, parameters: schema.to_string(), strict: None },
            at,
        )
    }

    fn own(&mut self, name: &str, value: String) {
        if !self.own.iter().any(|(known, _)| known == name) {
            self.own.push((name.to_owned(), value));
        }
    }
}

fn search(asked: &ChatCompletionRequest, met: &mut Met, report: &mut Report) -> Result<(), Error> {
    if asked.web_search_options.is_empty() {
        return Ok(());
    }
    if !asked.web_search_options.trim_start().starts_with('{') {
        return Err(Error::field("web_search_options", "must be an object"));
    }
    for (name, _) in super::members(&asked.web_search_options) {
        report.dropped(format!("web_search_options.{name}"), "the model's own search has no such option");
    }
    met.own("googleSearch", "{}".to_owned());
    Ok(())
}
