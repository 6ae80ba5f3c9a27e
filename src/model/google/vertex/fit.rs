//! Requests without what only the Gemini API knows: left out where the answer is the same without it, refused where it is
//! not. Pure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

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

pub(super) fn fitting(
    request: &GenerateContentRequest,
) -> Result<Cow<'_, GenerateContentRequest>, ModelError> {
    if let Some(name) = request.tools.iter().find_map(|tool| named(&tool.extra, TOOLS)) {
        let message = format!("Vertex AI has no tool {name}: leave it out, or use the Gemini API");
        return Err(ModelError::new(ModelCause::Unsupported, message));
    }
    if fits(request) {
        return Ok(Cow::Borrowed(request));
    }
    let mut request = request.clone();
    if let Some(config) = &mut request.tool_config {
        strip(&mut config.extra, TOOL_CONFIG);
    }
    if let Some(config) = &mut request.generation_config {
        strip(&mut config.extra, GENERATION);
    }
    request.contents.iter_mut().for_each(strip_parts);
    request.contents.retain(|content| !content.parts.is_empty());
    Ok(Cow::Owned(request))
}

/// Nearly all do, and are not copied.
fn fits(request: &GenerateContentRequest) -> bool {
    let parts = request.contents.iter().flat_map(|content| &content.parts).map(|part| (&part.extra, PART));
    let tools = request.tool_config.iter().map(|config| (&config.extra, TOOL_CONFIG));
    let generation = request.generation_config.iter().map(|config| (&config.extra, GENERATION));
    parts.chain(tools).chain(generation).all(|(extra, names)| named(extra, names).is_none())
}

/// A part that holds nothing else goes.
fn strip_parts(content: &mut Content) {
    content.parts.retain_mut(|part: &mut Part| {
        let stripped = strip(&mut part.extra, PART);
        !stripped || part.data.is_some() || !part.extra.is_empty()
    });
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
        let request: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
        Ok(String::from_utf8(encoded(&*fitting(&request)?).unwrap()).unwrap())
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
    fn everything_else_travels_on_uncopied() {
        let text = r#"{"contents":[{"role":"user","parts":[{"text":"toolCall","videoMetadata":{"note":"partMetadata"}}]}],"tools":[{"googleSearch":{}}],"labels":{"a":"b"}}"#;
        assert_eq!(sent(text).unwrap(), text);
        let request: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
        assert!(matches!(fitting(&request), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn a_tool_that_is_not_there_is_refused_by_its_name() {
        let error = sent(r#"{"tools":[{"googleSearch":{}},{"fileSearch":{"a":1}}]}"#).unwrap_err();
        assert_eq!(error.cause, ModelCause::Unsupported);
        assert!(error.message.contains("fileSearch"), "{error}");
    }
}
