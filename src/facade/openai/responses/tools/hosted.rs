//! Tools that the vendor knows by their type alone: some run on the model's side, some become functions.

use serde_json::{Value, json};

use super::{Form, Tools};
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::vendor;

const SEARCH: &str = r#"{"googleSearch":{}}"#;
const CODE: &str = r#"{"codeExecution":{}}"#;

/// What becomes of a type. Names may have a date behind them.
enum Rule {
    Hosted(&'static str),
    Function(Form),
    /// Whoever asks for it counts on it.
    Refused(&'static str),
    /// The answer is about as good without it.
    Dropped(&'static str),
}

const RULES: [(&str, Rule); 12] = [
    ("web_search", Rule::Hosted(SEARCH)),
    ("code_interpreter", Rule::Hosted(CODE)),
    ("local_shell", Rule::Function(Form::LocalShell)),
    ("shell", Rule::Function(Form::Shell)),
    ("apply_patch", Rule::Function(Form::ApplyPatch)),
    ("file_search", Rule::Refused("files are not kept here; offer a function that searches them")),
    ("computer", Rule::Refused("no screen is used here; offer functions instead")),
    ("mcp", Rule::Refused("no server is called from here; offer its tools as functions")),
    ("image_generation", Rule::Dropped("no pictures are made here")),
    ("tool_search", Rule::Dropped("all tools are offered at once")),
    ("programmatic_tool_calling", Rule::Dropped("the model calls its tools itself")),
    ("", Rule::Dropped("the model has no such tool")),
];

impl Tools {
    pub(super) fn other(&mut self, tool: &str, at: &str, report: &mut Report) -> Result<(), Error> {
        let tool: Value = vendor::kept(tool).unwrap_or_default();
        let kind = tool["type"].as_str().unwrap_or_default();
        let fits = |(name, _): &&(&str, Rule)| kind.starts_with(name) || name.is_empty();
        match RULES.iter().find(fits).map(|(_, rule)| rule) {
            Some(Rule::Hosted(json)) => {
                settings(&tool, at, report);
                if !self.hosted.contains(json) {
                    self.hosted.push(json);
                }
            }
            Some(Rule::Function(form)) => self.built_in(*form, at)?,
            Some(Rule::Refused(why)) => {
                return Err(Error::field(at, format!("`{kind}` cannot be offered: {why}")));
            }
            Some(Rule::Dropped(why)) => report.dropped(at, &format!("{kind}: {why}")),
            None => {}
        }
        Ok(())
    }

    fn built_in(&mut self, form: Form, at: &str) -> Result<(), Error> {
        let (name, description, schema) = match form {
            Form::LocalShell => ("local_shell", "Runs a command on the user's computer.", local_shell()),
            Form::Shell => ("shell", "Runs commands in a shell on the user's computer.", shell()),
            _ => ("apply_patch", "Creates, changes or deletes one file.", apply_patch()),
        };
        self.declare(form, "", name, description.to_owned(), schema.to_string(), at)
    }
}

/// Where and what is searched cannot be told to the model.
fn settings(tool: &Value, at: &str, report: &mut Report) {
    for name in ["filters", "user_location", "container"] {
        if tool.get(name).is_some_and(Value::is_object) {
            report.dropped(format!("{at}.{name}"), "the model's own tool has no such setting");
        }
    }
}

fn local_shell() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({"type": "object", "required": ["command"], "properties": {
        "command": texts,
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "integer"},
    }})
}

fn shell() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({"type": "object", "required": ["commands"], "properties": {
        "commands": texts,
        "timeout_ms": {"type": "integer"},
        "max_output_length": {"type": "integer"},
    }})
}

fn apply_patch() -> Value {
    json!({"type": "object", "required": ["type", "path"], "properties": {
        "type": {"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
        "path": {"type": "string"},
        "diff": {"type": "string", "description": "What changes, as a V4A diff; none to delete a file."},
    }})
}
