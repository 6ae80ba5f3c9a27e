//! Requests without what only the Gemini API knows: left out where the answer is the same without it, refused where it is
//! not. Pure.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::domain::change::{Change, How};
use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::{Content, GenerateContentRequest, Part};

/// Each in both spellings.
type Names = &'static [&'static str];
/// Where tools run on the server's side, and what they said.
const PART: Names =
    &["toolCall", "tool_call", "toolResponse", "tool_response", "partMetadata", "part_metadata"];
const TOOL_CONFIG: Names = &["includeServerSideToolInvocations", "include_server_side_tool_invocations"];
const GENERATION: Names = &["enableEnhancedCivicAnswers", "enable_enhanced_civic_answers"];
const TOOLS: Names = &["fileSearch", "file_search", "mcpServers", "mcp_servers"];

/// Whether all its tools are there.
pub(super) fn known(request: &GenerateContentRequest) -> Result<(), ModelError> {
    match request.tools.iter().find_map(|tool| named(&tool.extra, TOOLS)) {
        None => Ok(()),
        Some(name) => {
            let message = format!("Vertex AI has no tool {name}: leave it out, or use the Gemini API");
            Err(ModelError::new(ModelCause::Unsupported, message))
        }
    }
}

pub(super) fn fit(request: &mut GenerateContentRequest, changes: &mut Vec<Change>) {
    let mut tell = |field: &str| {
        let why = "Vertex AI does not know it".to_owned();
        changes.push(Change { field: field.to_owned(), how: How::Ignored, why });
    };
    if let Some(config) = &mut request.tool_config
        && strip(&mut config.extra, TOOL_CONFIG)
    {
        tell("toolConfig.includeServerSideToolInvocations");
    }
    if let Some(config) = &mut request.generation_config
        && strip(&mut config.extra, GENERATION)
    {
        tell("generationConfig.enableEnhancedCivicAnswers");
    }
    let mut stripped = false;
    request.contents.iter_mut().for_each(|content| stripped |= strip_parts(content));
    if stripped {
        tell("contents");
        request.contents.retain(|content| !content.parts.is_empty());
    }
}

/// A part that holds nothing else goes.
fn strip_parts(content: &mut Content) -> bool {
    let mut any = false;
    content.parts.retain_mut(|part: &mut Part| {
        let stripped = strip(&mut part.extra, PART);
        any |= stripped;
        !stripped || part.data.is_some() || !part.extra.is_empty()
    });
    any
}

/// Whether there was something to leave out.
fn strip(extra: &mut String, names: Names) -> bool {
    if named(extra, names).is_none() {
        return false;
    }
    let mut members = members(extra);
    members.retain(|name, _| !names.contains(&name.as_str()));
    let printed = if members.is_empty() { None } else { serde_json::to_string(&members).ok() };
    *extra = printed.unwrap_or_default();
    true
}

fn named(extra: &str, names: Names) -> Option<&'static str> {
    let may_be = names.iter().any(|name| extra.contains(name));
    let members = if may_be { members(extra) } else { BTreeMap::new() };
    names.iter().copied().find(|name| members.contains_key(*name))
}

fn members(extra: &str) -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(extra).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::google::wire::encoded;
    use crate::proto::vendor;

    fn sent(text: &str) -> Result<String, ModelError> {
        let mut request: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
        known(&request)?;
        let mut changes = Vec::new();
        fit(&mut request, &mut changes);
        let printed = String::from_utf8(encoded(&request).unwrap()).unwrap();
        assert_eq!(changes.is_empty(), printed == text, "{changes:?}");
        Ok(printed)
    }

    #[test]
    fn what_vertex_does_not_know_is_left_out() {
        let ask = r#"{"role":"user","parts":[{"text":"a"}]}"#;
        for (given, expected) in [
            (
                format!(r#"{{"contents":[{ask},{{"role":"model","parts":[{{"toolCall":{{}},"thoughtSignature":"s"}},{{"toolResponse":{{}}}}]}},{ask}]}}"#),
                format!(r#"{{"contents":[{ask},{ask}]}}"#),
            ),
            (
                r#"{"contents":[{"role":"user","parts":[{"text":"a","partMetadata":{"x":1},"videoMetadata":{"fps":5.50}}]}]}"#.to_owned(),
                r#"{"contents":[{"role":"user","parts":[{"text":"a","videoMetadata":{"fps":5.50}}]}]}"#.to_owned(),
            ),
            (
                format!(r#"{{"contents":[{ask}],"toolConfig":{{"functionCallingConfig":{{"mode":"AUTO"}},"includeServerSideToolInvocations":true}}}}"#),
                format!(r#"{{"contents":[{ask}],"toolConfig":{{"functionCallingConfig":{{"mode":"AUTO"}}}}}}"#),
            ),
            (
                format!(r#"{{"contents":[{ask}],"generationConfig":{{"enable_enhanced_civic_answers":true,"speechConfig":{{}}}}}}"#),
                format!(r#"{{"contents":[{ask}],"generationConfig":{{"speechConfig":{{}}}}}}"#),
            ),
        ] {
            assert_eq!(sent(&given).unwrap(), expected);
        }
    }

    #[test]
    fn everything_else_travels_on() {
        let text = r#"{"contents":[{"role":"user","parts":[{"text":"toolCall","videoMetadata":{"note":"partMetadata"}}]}],"tools":[{"googleSearch":{}}],"labels":{"a":"b"}}"#;
        assert_eq!(sent(text).unwrap(), text);
    }

    #[test]
    fn a_tool_that_is_not_there_is_refused_by_its_name() {
        let error = sent(r#"{"tools":[{"googleSearch":{}},{"fileSearch":{"a":1}}]}"#).unwrap_err();
        assert_eq!(error.cause, ModelCause::Unsupported);
        assert!(error.message.contains("fileSearch"), "{error}");
    }
}
