//! What the model may call: functions of the caller, and tools on the model's own side.

use super::client_tools::CLIENT_TOOLS;
use super::work::{Work, at};
use crate::domain::error::Error;
use crate::proto::anthropic::{Tool, ToolChoice};
use crate::proto::gemini::{self as hub, FunctionCallingConfig, FunctionDeclaration, ToolConfig};

/// Tools on the model's side: what their type begins with, and what the hub calls them.
const SERVER_TOOLS: [(&str, &str); 3] = [
    ("web_search_", r#"{"googleSearch":{}}"#),
    ("web_fetch_", r#"{"urlContext":{}}"#),
    ("code_execution_", r#"{"codeExecution":{}}"#),
];

/// It finds tools that are told late; here all are told at once.
const TOOL_SEARCH: &str = "tool_search_tool_";

/// What a tool of the request is here.
enum Kind {
    Function(FunctionDeclaration),
    Server(&'static str),
    Needless,
}

#[derive(Default)]
struct Offer {
    functions: Vec<FunctionDeclaration>,
    servers: Vec<&'static str>,
    /// Names of tools that cannot be demanded.
    others: Vec<String>,
    strict: bool,
}

pub(super) fn convert(
    tools: Vec<Tool>,
    choice: Option<ToolChoice>,
    work: &mut Work,
) -> Result<(Vec<hub::Tool>, Option<ToolConfig>), Error> {
    let mut offer = Offer::default();
    for (index, tool) in tools.into_iter().enumerate() {
        let path = format!("tools[{index}]");
        common(&tool, &path, work);
        let (name, strict) = (tool.name.clone(), tool.strict == Some(true));
        match kind(tool, &path, work)? {
            Kind::Function(function) => {
                offer.functions.push(function);
                offer.strict |= strict;
            }
            Kind::Server(hub) => {
                offer.others.push(name);
                if !offer.servers.contains(&hub) {
                    offer.servers.push(hub);
                }
            }
            Kind::Needless => offer.others.push(name),
        }
    }
    let config = choose(choice, &mut offer, work)?;
    Ok((told(offer), config))
}

/// Each kind in a tool of its own: the hub holds one kind in each.
fn told(offer: Offer) -> Vec<hub::Tool> {
    let functions = hub::Tool { function_declarations: offer.functions, ..hub::Tool::default() };
    let servers =
        offer.servers.into_iter().map(|extra| hub::Tool { extra: extra.to_owned(), ..hub::Tool::default() });
    let functions = (!functions.function_declarations.is_empty()).then_some(functions);
    functions.into_iter().chain(servers).collect()
}

fn common(tool: &Tool, path: &str, work: &mut Work) {
    work.cache_control(path, &tool.cache_control);
    work.unknown(path, &tool.extra);
    for (field, given) in [
        ("defer_loading", tool.defer_loading == Some(true)),
        ("eager_input_streaming", tool.eager_input_streaming == Some(true)),
    ] {
        if given {
            work.report.ignored(at(path, field), "all tools are told at once, and calls come whole");
        }
    }
    if tool.allowed_callers.iter().any(|caller| caller != "direct") {
        work.report.dropped(at(path, "allowed_callers"), "only the model itself calls");
    }
}

fn kind(tool: Tool, path: &str, work: &mut Work) -> Result<Kind, Error> {
    let kind = tool.r#type.as_str();
    if matches!(kind, "" | "custom") {
        return own(tool, path).map(Kind::Function);
    }
    if let Some((_, hub)) = SERVER_TOOLS.iter().find(|(prefix, _)| kind.starts_with(prefix)) {
        narrowed(&tool, path, work);
        return Ok(Kind::Server(hub));
    }
    if let Some(client) = CLIENT_TOOLS.iter().find(|client| kind.starts_with(client.prefix)) {
        return Ok(Kind::Function(FunctionDeclaration {
            name: tool.name,
            description: client.description.to_owned(),
            parameters_json_schema: client.schema.to_owned(),
            ..FunctionDeclaration::default()
        }));
    }
    if kind.starts_with(TOOL_SEARCH) {
        work.report.ignored(path, "all tools are told at once");
        return Ok(Kind::Needless);
    }
    let why = format!(
        "{kind:?} cannot be offered by the models here; offer a tool of your own with an input_schema"
    );
    Err(Error::field(at(path, "type"), why))
}

fn own(tool: Tool, path: &str) -> Result<FunctionDeclaration, Error> {
    if tool.name.is_empty() {
        return Err(Error::field(at(path, "name"), "is required"));
    }
    let mut description = tool.description;
    if !tool.input_examples.is_empty() {
        description += &format!("\n\nExamples of input:\n{}", tool.input_examples.join("\n"));
    }
    Ok(FunctionDeclaration {
        name: tool.name,
        description,
        parameters_json_schema: tool.input_schema,
        ..FunctionDeclaration::default()
    })
}

/// The hub's searches cannot be narrowed.
fn narrowed(tool: &Tool, path: &str, work: &mut Work) {
    for (field, given) in [
        ("max_uses", tool.max_uses.is_some()),
        ("allowed_domains", !tool.allowed_domains.is_empty()),
        ("blocked_domains", !tool.blocked_domains.is_empty()),
        ("user_location", !tool.user_location.is_empty()),
        ("max_content_tokens", tool.max_content_tokens.is_some()),
    ] {
        if given {
            work.report.dropped(at(path, field), "the model searches by its own lights");
        }
    }
}

fn choose(
    choice: Option<ToolChoice>,
    offer: &mut Offer,
    work: &mut Work,
) -> Result<Option<ToolConfig>, Error> {
    let choice = choice.unwrap_or_else(|| ToolChoice { r#type: "auto".to_owned(), ..ToolChoice::default() });
    work.unknown("tool_choice", &choice.extra);
    if choice.disable_parallel_tool_use == Some(true) {
        work.report.altered("tool_choice.disable_parallel_tool_use", "calls behind the first are left out");
    }
    let (mode, names) = match choice.r#type.as_str() {
        "auto" => (if offer.strict { "VALIDATED" } else { "" }, Vec::new()),
        "any" => ("ANY", Vec::new()),
        "tool" => ("ANY", named(choice.name, offer, work)?),
        "none" => {
            // Functions stay: the history speaks of them.
            offer.servers.clear();
            ("NONE", Vec::new())
        }
        _ => return Err(Error::field("tool_choice.type", "must be auto, any, tool or none")),
    };
    let one_of_the_models_own = choice.r#type == "tool" && names.is_empty();
    if mode.is_empty() || offer.functions.is_empty() || one_of_the_models_own {
        return Ok(None);
    }
    let config = FunctionCallingConfig { mode: mode.to_owned(), allowed_function_names: names };
    Ok(Some(ToolConfig { function_calling_config: Some(config), ..ToolConfig::default() }))
}

fn named(name: String, offer: &Offer, work: &mut Work) -> Result<Vec<String>, Error> {
    if offer.functions.iter().any(|function| function.name == name) {
        return Ok(vec![name]);
    }
    if offer.others.contains(&name) {
        work.report.altered("tool_choice", "the model decides whether it uses a tool of its own");
        return Ok(Vec::new());
    }
    Err(Error::field("tool_choice.name", format!("there is no tool {name:?} in `tools`")))
}
