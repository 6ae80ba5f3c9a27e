//! Packages whose JSON is a vendor's, not ProtoJSON: serde derives on the generated messages, and for each field how
//! it is read and left out. Unions are written by hand in `src/proto/`; plain fields never are.

#[path = "vendor/openai.rs"]
mod openai;

use prost_build::Config;
use prost_reflect::{DescriptorPool, FieldDescriptor, Kind, MessageDescriptor};

use self::openai::OPENAI;
use crate::Result;

pub struct Package {
    pub name: &'static str,
    pub members: Members,
    /// Messages whose impls are written by hand.
    pub by_hand: &'static [&'static str],
    /// Fields that hold JSON as the text that stood there.
    pub raw: &'static [&'static str],
    /// Lists that must have their brackets: without them, messages nest deeper than protobuf reads back before the JSON
    /// is too deep.
    pub strict: &'static [&'static str],
    /// Fields that are read and not written, with what reads them.
    pub read_only: &'static [(&'static str, &'static str)],
    /// Fields that are read and written by a module of their own.
    pub with: &'static [(&'static str, &'static str)],
    /// Fields that are printed even where they hold nothing: as `null`, `0`, `""` or `[]`.
    pub always: &'static [&'static str],
}

/// How the vendor spells the names of members.
pub enum Members {
    /// `finishReason`; `finish_reason` is read too.
    Camel,
    /// `finish_reason`.
    Snake,
}

pub const PACKAGES: [Package; 6] = [GEMINI, CODE_ASSIST, VERTEX, OPENAI, ANTHROPIC, FACADE];

/// Whether a package's JSON is a vendor's.
pub fn knows(package: &str) -> bool {
    PACKAGES.iter().any(|known| known.name == package)
}

/// Those that are in the pool, as `.agena.openai.v1`: all, and those whose members keep their names.
pub fn present(pool: &DescriptorPool) -> (Vec<String>, Vec<String>) {
    let there = |package: &&Package| pool.all_messages().any(|m| m.package_name() == package.name);
    let spelled = |package: &Package| format!(".{}", package.name);
    let snake = |package: &&Package| matches!(package.members, Members::Snake);
    (
        PACKAGES.iter().filter(there).map(spelled).collect(),
        PACKAGES.iter().filter(there).filter(snake).map(spelled).collect(),
    )
}

const GEMINI: Package = Package {
    name: "agena.gemini.v1",
    members: Members::Camel,
    by_hand: &["Part"],
    raw: &[
        "FunctionCall.args",
        "FunctionResponse.response",
        "FunctionDeclaration.parameters",
        "FunctionDeclaration.parameters_json_schema",
        "FunctionDeclaration.response",
        "FunctionDeclaration.response_json_schema",
        "GenerationConfig.response_schema",
        "GenerationConfig.response_json_schema",
        "Candidate.safety_ratings",
        "Candidate.citation_metadata",
        "Candidate.grounding_metadata",
        "Candidate.url_context_metadata",
        "PromptFeedback.safety_ratings",
    ],
    strict: &["FunctionResponse.parts"],
    // On REST the model stands in the path.
    read_only: &[
        ("GenerateContentRequest.model", "crate::proto::gemini::model_name::deserialize"),
        ("CountTokensRequest.model", "crate::proto::gemini::model_name::deserialize"),
        ("BatchEmbedContentsRequest.model", "crate::proto::gemini::model_name::deserialize"),
    ],
    with: &[
        ("EmbedContentRequest.model", "crate::proto::gemini::model_name"),
        ("Model.name", "crate::proto::gemini::model_name"),
    ],
    always: &[],
};

const CODE_ASSIST: Package = Package {
    name: "agena.codeassist.v1",
    members: Members::Camel,
    by_hand: &[],
    raw: &[],
    strict: &[],
    read_only: &[],
    with: &[("CountedContents.model", "crate::proto::gemini::model_name")],
    always: &[],
};

const VERTEX: Package = Package {
    name: "agena.vertex.v1",
    members: Members::Camel,
    by_hand: &[],
    raw: &[],
    strict: &[],
    read_only: &[],
    with: &[],
    always: &[],
};

const ANTHROPIC: Package = Package {
    name: "agena.anthropic.v1",
    members: Members::Snake,
    by_hand: &[
        "Content",
        "Block",
        "SourceContent",
        "SourceBlock",
        "ResultContent",
        "ResultBlock",
        "MessageStreamEvent",
        "Delta",
    ],
    raw: &[
        "TextBlock.citations",
        "TextBlock.cache_control",
        "ImageBlock.cache_control",
        "DocumentBlock.citations",
        "DocumentBlock.cache_control",
        "SearchResultBlock.citations",
        "SearchResultBlock.cache_control",
        "ToolUseBlock.input",
        "ToolUseBlock.cache_control",
        "ToolResultBlock.cache_control",
        "ServerToolResultBlock.content",
        "ServerToolResultBlock.cache_control",
        "CreateMessageRequest.cache_control",
        "CreateMessageRequest.container",
        "CreateMessageRequest.context_management",
        "CreateMessageRequest.diagnostics",
        "CreateMessageRequest.mcp_servers",
        "CountTokensRequest.cache_control",
        "CountTokensRequest.context_management",
        "CountTokensRequest.mcp_servers",
        "Tool.input_schema",
        "Tool.input_examples",
        "Tool.user_location",
        "Tool.citations",
        "Tool.cache_control",
        "OutputFormat.schema",
        "CitationsDelta.citation",
    ],
    strict: &[],
    read_only: &[],
    with: &[],
    always: &[
        "TextBlock.text",
        "ThinkingBlock.thinking",
        "ThinkingBlock.signature",
        "RedactedThinkingBlock.data",
        "ToolUseBlock.id",
        "ToolUseBlock.name",
        "ToolUseBlock.input",
        "ServerToolResultBlock.content",
        "CountTokensResponse.input_tokens",
        "Message.content",
        "Message.stop_reason",
        "Message.stop_sequence",
        "StopDetails.category",
        "StopDetails.explanation",
        "Usage.input_tokens",
        "Usage.cache_creation_input_tokens",
        "Usage.cache_read_input_tokens",
        "Usage.output_tokens",
        "OutputTokensDetails.thinking_tokens",
        "ServerToolUsage.web_search_requests",
        "ServerToolUsage.web_fetch_requests",
        "ContentBlockStart.index",
        "ContentBlockDelta.index",
        "ContentBlockStop.index",
        "TextDelta.text",
        "InputJsonDelta.partial_json",
        "ThinkingDelta.thinking",
        "SignatureDelta.signature",
        "StopDelta.stop_reason",
        "StopDelta.stop_sequence",
        "Error.message",
        "ModelList.data",
        "ModelList.has_more",
        "ModelList.first_id",
        "ModelList.last_id",
        "Model.max_input_tokens",
        "Model.max_tokens",
        "Support.supported",
        "ThinkingSupport.supported",
        "EffortSupport.supported",
    ],
};

const FACADE: Package = Package {
    name: "agena.facade.v1",
    members: Members::Snake,
    by_hand: &[],
    raw: &[],
    strict: &[],
    read_only: &[],
    with: &[],
    always: &["Preview.changes"],
};

/// Where unknown members go.
const EXTRA: &str = "extra";

/// What is said between facades and backends only: no JSON has it.
const UNSEEN: [&str; 1] = ["agena.gemini.v1.GenerationConfig.visible_output_tokens"];

pub fn attributes(config: &mut Config, pool: &DescriptorPool) -> Result<()> {
    for package in &PACKAGES {
        let messages: Vec<_> = pool.all_messages().filter(|m| m.package_name() == package.name).collect();
        // The tests' own set has none of them.
        if !messages.is_empty() {
            check_names(package, &messages)?;
        }
        let derived = |m: &&MessageDescriptor| !m.is_map_entry() && !package.by_hand.contains(&m.name());
        messages.iter().filter(derived).for_each(|message| derive(config, package, message));
    }
    Ok(())
}

/// A field that was renamed must not silently become plain text.
fn check_names(package: &Package, messages: &[MessageDescriptor]) -> Result<()> {
    let fields: Vec<String> =
        messages.iter().flat_map(|m| m.fields().map(|f| local(&f)).collect::<Vec<_>>()).collect();
    let named = package
        .raw
        .iter()
        .chain(package.strict)
        .chain(package.always)
        .copied()
        .chain(package.read_only.iter().chain(package.with).map(|(field, _)| *field));
    match named.into_iter().find(|name| !fields.iter().any(|field| field == name)) {
        Some(missing) => Err(format!("{} has no {missing}", package.name).into()),
        None => Ok(()),
    }
}

/// `Message.field`.
fn local(field: &FieldDescriptor) -> String {
    format!("{}.{}", field.parent_message().name(), field.name())
}

fn derive(config: &mut Config, package: &Package, message: &MessageDescriptor) {
    let path = format!(".{}", message.full_name());
    config.message_attribute(&path, "#[derive(serde::Serialize, serde::Deserialize)]");
    // With unknown members to keep, the derived impls are the inner ones: `vendor::keep_extra!` stands around them.
    let remote = if message.get_field_by_name(EXTRA).is_some() { ", remote = \"Self\"" } else { "" };
    config.message_attribute(&path, format!("#[serde(default{remote})]"));
    for field in message.fields() {
        config.field_attribute(format!("{path}.{}", field.name()), attribute(package, &field));
    }
}

fn attribute(package: &Package, field: &FieldDescriptor) -> String {
    if field.name() == EXTRA || UNSEEN.contains(&field.full_name()) {
        return "#[serde(skip)]".to_owned();
    }
    let find = |list: &'static [(&str, &'static str)]| {
        list.iter().find(|(name, _)| *name == local(field)).map(|(_, by)| *by)
    };
    let (how, mut skip) = match (find(package.read_only), find(package.with)) {
        (Some(read), _) => (format!("skip_serializing, deserialize_with = \"{read}\""), None),
        (None, Some(module)) => (format!("with = \"{module}\""), Some("crate::proto::vendor::is_default")),
        _ if package.raw.contains(&local(field).as_str()) => raw(field),
        _ => plain(package, field),
    };
    if package.always.contains(&local(field).as_str()) {
        skip = None;
    }
    let skip = skip.map(|skip| format!(", skip_serializing_if = \"{skip}\"")).unwrap_or_default();
    format!("#[serde({}, {how}{skip})]", names(package, field))
}

fn names(package: &Package, field: &FieldDescriptor) -> String {
    match package.members {
        Members::Camel => format!("rename = \"{}\", alias = \"{}\"", field.json_name(), field.name()),
        Members::Snake => format!("rename = \"{}\"", field.name()),
    }
}

/// How a field is read and written, and what says that it is left out.
type How = (String, Option<&'static str>);

fn raw(field: &FieldDescriptor) -> How {
    let (module, empty) =
        if field.is_list() { ("raw::list", "Vec::is_empty") } else { ("raw", "String::is_empty") };
    (format!("with = \"crate::proto::vendor::{module}\""), Some(empty))
}

fn plain(package: &Package, field: &FieldDescriptor) -> How {
    let one = field.kind().as_message().is_some() && !package.strict.contains(&local(field).as_str());
    let optional = field.supports_presence();
    let (read, skip) = match field.kind() {
        _ if field.is_map() => ("or_default", "std::collections::BTreeMap::is_empty"),
        _ if field.is_list() && one => ("one_or_many", "Vec::is_empty"),
        _ if field.is_list() => ("or_default", "Vec::is_empty"),
        Kind::Double | Kind::Float if optional => ("double", "crate::proto::vendor::no_number"),
        Kind::Int32 | Kind::Int64 if optional => ("optional_integer", "Option::is_none"),
        Kind::Int32 | Kind::Int64 => ("integer", "crate::proto::vendor::is_default"),
        _ if optional => ("or_default", "Option::is_none"),
        _ => ("or_default", "crate::proto::vendor::is_default"),
    };
    let print =
        if read == "double" { ", serialize_with = \"crate::proto::vendor::print_double\"" } else { "" };
    (format!("deserialize_with = \"crate::proto::vendor::{read}\"{print}"), Some(skip))
}
