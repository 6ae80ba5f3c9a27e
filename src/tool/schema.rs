//! The arguments of a call against the schema that the model was shown. Pure; an error names the field.

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

pub(super) use crate::domain::tool::with_whole_numbers;
use crate::domain::tool::{Arguments, ToolError};

/// As many problems as a model can mend at once.
const MOST: usize = 5;

pub(super) fn check(validator: &Validator, tool: &str, arguments: &Arguments) -> Result<(), ToolError> {
    let arguments = Value::Object(arguments.clone());
    let problems: Vec<String> =
        validator.iter_errors(&arguments).take(MOST).map(|error| told(&error)).collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(ToolError::new("invalid_tool_params", format!("arguments of {tool}: {}", problems.join("; "))))
}

/// The value is not repeated: it may be a whole file.
fn told(error: &ValidationError<'_>) -> String {
    let field = error.instance_path().to_string();
    let field = field.trim_start_matches('/').replace('/', ".");
    let problem = error.masked_with("the value").to_string();
    if field.is_empty() { problem } else { format!("{field}: {problem}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_are_whole() {
        let given = json!({"a": 3.0, "b": [1.5, -2.0, 7], "c": {"d": 1e300, "e": "4.0"}});
        let expected = json!({"a": 3, "b": [1.5, -2, 7], "c": {"d": 1e300, "e": "4.0"}});
        assert_eq!(with_whole_numbers(given), expected);
    }

    #[test]
    fn an_error_names_the_field_and_not_the_value() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "todos": {"type": "array", "items": {"required": ["status"]}}},
            "required": ["path"],
        });
        let validator = jsonschema::validator_for(&schema).unwrap();
        let check = |arguments: Value| {
            check(&validator, "t", arguments.as_object().unwrap()).map_err(|error| error.to_string())
        };
        assert_eq!(check(json!({"path": "a", "other": 1})), Ok(()));
        for (arguments, expected) in [
            (json!({}), "arguments of t: \"path\" is a required property"),
            (json!({"path": 7}), "arguments of t: path: the value is not of type \"string\""),
            (
                json!({"path": "a", "todos": [{}]}),
                "arguments of t: todos.0: \"status\" is a required property",
            ),
        ] {
            assert_eq!(check(arguments).unwrap_err(), expected);
        }
    }
}
