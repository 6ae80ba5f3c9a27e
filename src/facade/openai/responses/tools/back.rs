//! A call of the model's as the client knows it.

use serde_json::{Map, Value};

use super::{Form, Tools};
use crate::proto::gemini::FunctionCall;
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::{ActionCallItem, ApplyPatchCallItem, CustomToolCallItem, FunctionCallItem};
use crate::proto::vendor;

const DONE: &str = "completed";

impl Tools {
    /// What ids of such an item begin with, and the item without one.
    pub(in crate::facade::openai::responses) fn back(&self, call: FunctionCall) -> (&'static str, Kind) {
        let known = self.known.iter().find(|known| known.hub == call.name);
        let (form, namespace, name) = match known {
            Some(known) => (known.form, known.namespace.clone(), known.name.clone()),
            // The model made it up; the client says so.
            None => (Form::Function, String::new(), call.name.clone()),
        };
        let (status, call_id) = (DONE.to_owned(), call.id);
        let args = if call.args.is_empty() { "{}".to_owned() } else { call.args };
        match form {
            Form::Function => {
                let item = FunctionCallItem {
                    status,
                    call_id,
                    name,
                    namespace,
                    arguments: args,
                    ..FunctionCallItem::default()
                };
                ("fc", Kind::FunctionCall(item))
            }
            Form::Custom => {
                let input = input(&args);
                let item =
                    CustomToolCallItem { status, call_id, name, namespace, input, ..Default::default() };
                ("ctc", Kind::CustomToolCall(item))
            }
            Form::LocalShell => {
                let item =
                    ActionCallItem { status, call_id, action: exec(&args), ..ActionCallItem::default() };
                ("lsh", Kind::LocalShellCall(item))
            }
            Form::Shell => (
                "sh",
                Kind::ShellCall(ActionCallItem { status, call_id, action: args, ..Default::default() }),
            ),
            Form::ApplyPatch => {
                let item = ApplyPatchCallItem { status, call_id, operation: args, ..Default::default() };
                ("apc", Kind::ApplyPatchCall(item))
            }
        }
    }
}

/// The free text; where the model did not keep to it, all that it said.
fn input(args: &str) -> String {
    let object: Map<String, Value> = vendor::kept(args).unwrap_or_default();
    match object.get("input") {
        Some(Value::String(input)) => input.clone(),
        _ => args.to_owned(),
    }
}

fn exec(args: &str) -> String {
    let mut action: Map<String, Value> = vendor::kept(args).unwrap_or_default();
    action.insert("type".to_owned(), "exec".into());
    action.entry("env").or_insert_with(|| Value::Object(Map::new()));
    Value::Object(action).to_string()
}
