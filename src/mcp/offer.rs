//! Tools as the model gets them. What a server says of a tool is cut to a size, checked, and dropped with a reason where it
//! cannot be used. Pure.

use jsonschema::Validator;
use rmcp::model::Tool;
use serde_json::Value;

use super::names;
use super::unfold::Cost;
use crate::domain::mcp::Spec;
use crate::domain::tool::{Arguments, Declaration, Kind, ToolError, with_whole_numbers};

/// Characters of a description that a model should have to read.
const DESCRIPTION: usize = 8 * 1024;
const TITLE: usize = 200;
const RAW_NAME: usize = 256;
/// Bytes of a schema, as JSON.
const SCHEMA: usize = 64 * 1024;
const DEPTH: usize = 32;
/// Bytes of all descriptions and schemas of a server: each request carries them.
const ALL: usize = 1024 * 1024;
/// Problems of arguments that a model can mend at once.
const MOST: usize = 5;
/// Of what is told about tools that are left out.
const PROBLEMS: usize = 20;

/// A tool that can be called.
pub(super) struct Offered {
    /// As the server calls it.
    pub(super) raw: String,
    pub(super) declaration: Declaration,
    validator: Validator,
    cost: Cost,
}

/// What a server offers, and why some of it is not.
#[derive(Default)]
pub(super) struct Offer {
    pub(super) tools: Vec<Offered>,
    pub(super) problems: Vec<String>,
}

impl Offer {
    pub(super) fn of(spec: &Spec, tools: Vec<Tool>) -> Self {
        let wanted: Vec<Tool> = tools.into_iter().filter(|tool| spec.wants(&tool.name)).collect();
        let raw: Vec<&str> = wanted.iter().map(|tool| &*tool.name).collect();
        let full = names::full(&spec.name, &raw);
        let (mut offer, mut left) = (Self::default(), ALL);
        for (tool, full) in wanted.iter().zip(full) {
            let fits = |offered: Offered| match left.checked_sub(offered.size()) {
                Some(rest) => Ok((offered, rest)),
                None => Err(format!("all that it says of its tools has more than {ALL} bytes")),
            };
            match offered(spec, tool, full).and_then(fits) {
                Ok((offered, rest)) => {
                    offer.tools.push(offered);
                    left = rest;
                }
                Err(problem) if offer.problems.len() < PROBLEMS => {
                    offer
                        .problems
                        .push(format!("the tool {:?} is left out: {problem}", cut(&tool.name, TITLE)));
                }
                Err(_) => {}
            }
        }
        offer
    }

    pub(super) fn find(&self, full: &str) -> Option<&Offered> {
        self.tools.iter().find(|tool| tool.declaration.name == full)
    }
}

fn offered(spec: &Spec, tool: &Tool, full: Option<String>) -> Result<Offered, String> {
    let name = full.ok_or("the server has named another one so before")?;
    if tool.name.is_empty() || tool.name.len() > RAW_NAME {
        return Err(format!("its name is empty, or longer than {RAW_NAME} bytes"));
    }
    let parameters = parameters(tool)?;
    let cost = Cost::of(&parameters)?;
    let validator = jsonschema::validator_for(&parameters)
        .map_err(|error| format!("its schema is none: {}", cut(&error.to_string(), TITLE)))?;
    // Its word for it counts only if the operator trusts it.
    let says_reads = tool.annotations.as_ref().and_then(|said| said.read_only_hint).unwrap_or(false);
    let kind = if spec.trusted && says_reads { Kind::Read } else { Kind::Other };
    let declaration = Declaration {
        name,
        title: format!("{} ({} MCP Server)", cut(&tool.name, TITLE), spec.name),
        description: cut(tool.description.as_deref().unwrap_or_default(), DESCRIPTION),
        parameters,
        kind,
        server: Some(spec.name.clone()),
    };
    Ok(Offered { raw: tool.name.to_string(), declaration, validator, cost })
}

fn parameters(tool: &Tool) -> Result<Value, String> {
    let mut schema = (*tool.input_schema).clone();
    match schema.get("type") {
        None => drop(schema.insert("type".to_owned(), Value::from("object"))),
        Some(Value::String(kind)) if kind == "object" => {}
        Some(_) => return Err("its schema is not of an object".to_owned()),
    }
    let schema = Value::Object(schema);
    if depth(&schema) > DEPTH || schema.to_string().len() > SCHEMA {
        return Err(format!("its schema has more than {SCHEMA} bytes or {DEPTH} levels"));
    }
    Ok(schema)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl Offered {
    /// What a model has to read, in bytes.
    fn size(&self) -> usize {
        self.declaration.description.len() + self.declaration.parameters.to_string().len()
    }

    /// The arguments as the server should get them.
    pub(super) fn checked(&self, arguments: &Arguments) -> Result<Arguments, ToolError> {
        let given = with_whole_numbers(Value::Object(arguments.clone()));
        if !self.cost.allows(&given) {
            let message =
                format!("arguments of {}: they are nested too deep, or too many", self.declaration.name);
            return Err(ToolError::new("invalid_tool_params", message));
        }
        let told = |error: jsonschema::ValidationError<'_>| {
            let field = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
            let problem = error.masked_with("the value").to_string();
            if field.is_empty() { problem } else { format!("{field}: {problem}") }
        };
        let problems: Vec<String> = self.validator.iter_errors(&given).take(MOST).map(told).collect();
        match given {
            Value::Object(arguments) if problems.is_empty() => Ok(arguments),
            _ => {
                let message = format!("arguments of {}: {}", self.declaration.name, problems.join("; "));
                Err(ToolError::new("invalid_tool_params", cut(&message, DESCRIPTION)))
            }
        }
    }
}

/// At the end of a character.
pub(super) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mcp::{Origin, Way};
    use crate::proto::devtool::McpServer;
    use serde_json::json;

    fn spec(trusted: bool) -> Spec {
        let named = McpServer { name: "hub".into(), command: "x".into(), ..McpServer::default() };
        let spec = Spec::of_client(&named, &[]).unwrap();
        assert!(matches!((&spec.way, spec.origin), (Way::Command { .. }, Origin::Client)));
        Spec { trusted, ..spec }
    }

    fn tools(listed: Value) -> Vec<Tool> {
        serde_json::from_value(listed).unwrap()
    }

    #[test]
    fn a_lying_list_costs_only_what_lies() {
        let mut deep = json!({});
        for _ in 0..40 {
            deep = json!({ "a": deep });
        }
        let listed = json!([
            {"name": "good", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
            {"name": "good", "inputSchema": {}},
            {"name": "", "inputSchema": {}},
            {"name": "a list", "inputSchema": {"type": "array"}},
            {"name": "no schema", "inputSchema": {"type": "object", "properties": 5}},
            {"name": "deep", "inputSchema": {"type": "object", "x": deep}},
            {"name": "long", "inputSchema": {"type": "object", "x": "y".repeat(SCHEMA)}},
            {"name": "bad chars \u{7}", "description": "d".repeat(DESCRIPTION + 9), "inputSchema": {}},
        ]);
        let offer = Offer::of(&spec(false), tools(listed));
        let names: Vec<&str> = offer.tools.iter().map(|tool| tool.declaration.name.as_str()).collect();
        assert_eq!(names, ["mcp_hub_good", "mcp_hub_bad_chars__"]);
        assert_eq!(offer.problems.len(), 6, "{:?}", offer.problems);
        assert_eq!(offer.tools[1].declaration.description.len(), DESCRIPTION + 3);
        let good = offer.find("mcp_hub_good").unwrap();
        let whole = good.checked(json!({"n": 3.0}).as_object().unwrap()).unwrap();
        assert_eq!(Value::Object(whole), json!({"n": 3}));
        let wrong = good.checked(json!({"n": "x"}).as_object().unwrap()).unwrap_err();
        assert!(wrong.to_string().starts_with("arguments of mcp_hub_good: n: "), "{wrong}");
    }

    #[test]
    fn a_server_has_so_much_room_and_no_more() {
        let one = |n: usize| json!({"name": format!("t{n}"), "inputSchema": {"type": "object", "x": "y".repeat(60_000)}});
        let mut listed: Vec<Value> = (0..50).map(one).collect();
        listed.push(json!({"name": "small", "inputSchema": {}}));
        let offer = Offer::of(&spec(false), tools(Value::Array(listed)));
        assert_eq!((offer.tools.len(), offer.problems.len()), (18, PROBLEMS));
        assert!(offer.find("mcp_hub_small").is_some() && offer.problems[0].contains("1048576 bytes"));
    }

    #[test]
    fn that_a_tool_only_reads_is_believed_of_trusted_servers_alone() {
        let listed = json!([{"name": "r", "inputSchema": {}, "annotations": {"readOnlyHint": true}}]);
        for (trusted, kind) in [(false, Kind::Other), (true, Kind::Read)] {
            assert_eq!(Offer::of(&spec(trusted), tools(listed.clone())).tools[0].declaration.kind, kind);
        }
    }
}
