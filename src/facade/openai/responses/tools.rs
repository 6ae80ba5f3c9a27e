//! Tools: what the model is offered, and under which name, so that its calls can be given back as the client knows them.

mod back;
mod choice;
mod hosted;

use serde_json::json;

use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::{FunctionDeclaration, Tool};
use crate::proto::openai::response_tool::Tool as Kind;
use crate::proto::openai::{ResponseCustomTool, ResponseFunctionTool, ResponseNamespaceTool, ResponseTool};
use crate::proto::vendor;

pub(super) use choice::choose;

/// How a call of a tool looks to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Function,
    Custom,
    LocalShell,
    Shell,
    ApplyPatch,
}

/// A tool and its name at the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// At the model.
    hub: String,
    form: Form,
    namespace: String,
    name: String,
}

/// All that the model may call.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: Vec<Known>,
    declarations: Vec<FunctionDeclaration>,
    /// What runs on the model's side, each as a JSON object.
    hosted: Vec<&'static str>,
    /// One of them wants its arguments to be as its schema says.
    strict: bool,
}

impl Tools {
    pub(super) fn add(&mut self, tools: &[ResponseTool], at: &str, report: &mut Report) -> Result<(), Error> {
        for (index, tool) in tools.iter().enumerate() {
            self.one(tool, "", &format!("{at}[{index}]"), report)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        tool: &ResponseTool,
        namespace: &str,
        at: &str,
        report: &mut Report,
    ) -> Result<(), Error> {
        match &tool.tool {
            Some(Kind::Function(function)) => self.function(function, namespace, at),
            Some(Kind::Custom(custom)) => self.custom(custom, namespace, at),
            Some(Kind::Namespace(inner)) => self.namespace(inner, namespace, at, report),
            None => self.other(&tool.extra, at, report),
        }
    }

    fn function(&mut self, tool: &ResponseFunctionTool, namespace: &str, at: &str) -> Result<(), Error> {
        self.strict |= tool.strict == Some(true);
        let description = tool.description.clone().unwrap_or_default();
        let schema = tool.parameters.clone();
        self.declare(Form::Function, namespace, &tool.name, description, schema, at)
    }

    /// A function with one text; a grammar is told in words.
    fn custom(&mut self, tool: &ResponseCustomTool, namespace: &str, at: &str) -> Result<(), Error> {
        let format: serde_json::Value = vendor::kept(&tool.format).unwrap_or_default();
        let mut description = tool.description.clone().unwrap_or_default();
        if let Some(definition) = format["definition"].as_str() {
            let syntax = format["syntax"].as_str().unwrap_or_default();
            description += &format!("\n\nThe input must follow this {syntax} grammar:\n{definition}");
        }
        let input = json!({"type": "string", "description": "The whole input of the tool, as free text."});
        let schema = json!({"type": "object", "properties": {"input": input}, "required": ["input"]});
        self.declare(Form::Custom, namespace, &tool.name, description, schema.to_string(), at)
    }

    fn namespace(
        &mut self,
        inner: &ResponseNamespaceTool,
        outer: &str,
        at: &str,
        report: &mut Report,
    ) -> Result<(), Error> {
        if inner.name.is_empty() {
            return Err(Error::field(format!("{at}.name"), "is required: a namespace has a name"));
        }
        let name = joined(outer, &inner.name);
        for (index, tool) in inner.tools.iter().enumerate() {
            self.one(tool, &name, &format!("{at}.tools[{index}]"), report)?;
        }
        Ok(())
    }

    pub(super) fn declare(
        &mut self,
        form: Form,
        namespace: &str,
        name: &str,
        description: String,
        schema: String,
        at: &str,
    ) -> Result<(), Error> {
        if name.is_empty() {
            return Err(Error::field(format!("{at}.name"), "is required: a tool has a name"));
        }
        if self.known.iter().any(|known| known.is(form, namespace, name)) {
            // Further tools may say again what stands there already.
            return Ok(());
        }
        let hub = self.free(joined(namespace, name));
        let parameters_json_schema = if is_empty(&schema) { String::new() } else { schema };
        self.declarations.push(FunctionDeclaration {
            name: hub.clone(),
            description,
            parameters_json_schema,
            ..FunctionDeclaration::default()
        });
        self.known.push(Known { hub, form, namespace: namespace.to_owned(), name: name.to_owned() });
        Ok(())
    }

    /// Two tools that would have one name get two.
    fn free(&self, name: String) -> String {
        let taken = |name: &str| self.known.iter().any(|known| known.hub == name);
        if !taken(&name) {
            return name;
        }
        (2..).map(|number| format!("{name}_{number}")).find(|name| !taken(name)).unwrap_or(name)
    }

    /// The name at the model of a call in the history, whether or not the tool is still offered.
    pub(super) fn hub(&self, form: Form, namespace: &str, name: &str) -> String {
        let exact = self.known.iter().find(|known| known.is(form, namespace, name));
        exact.map_or_else(|| joined(namespace, name), |known| known.hub.clone())
    }

    /// Without those that are not allowed.
    fn keep(&mut self, names: &[String]) {
        self.declarations.retain(|declaration| names.contains(&declaration.name));
    }

    /// For the model: the functions in one, and each that runs on its side in one of its own.
    pub(super) fn declared(&mut self) -> Vec<Tool> {
        let functions = std::mem::take(&mut self.declarations);
        let own =
            (!functions.is_empty()).then_some(Tool { function_declarations: functions, ..Tool::default() });
        let hosted = self.hosted.iter().map(|tool| Tool { extra: (*tool).to_owned(), ..Tool::default() });
        own.into_iter().chain(hosted).collect()
    }
}

impl Known {
    fn is(&self, form: Form, namespace: &str, name: &str) -> bool {
        self.form == form && self.namespace == namespace && self.name == name
    }
}

/// Letters that every model takes in a name.
fn joined(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}__{name}") }
}

/// A schema that says nothing: no parameters.
fn is_empty(schema: &str) -> bool {
    let schema: serde_json::Value = vendor::kept(schema).unwrap_or_default();
    let none = |value: &serde_json::Value| value.as_object().is_none_or(serde_json::Map::is_empty);
    none(&schema)
}
