//! What a chat completion cannot say, taken out of a request of the hub and told by its path. What the call leaves out is what
//! is told here: both come from the same conversion. Pure.

use super::request::{Answer, Converted, Server, convert};
use crate::domain::change::{Change, How};
use crate::model::names::{Names, Rule};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentRequest, GenerationConfig, Part, Tool};

/// Endings of paths that mean nothing to such a server anyway.
const WITHOUT_EFFECT: [&str; 3] = ["labels", "thoughtSignature", "functionResponse.id"];

pub(super) fn fit(
    mut request: GenerateContentRequest,
    server: Server,
) -> (GenerateContentRequest, Vec<Change>) {
    let mut changes = Vec::new();
    Names::fit(&mut request, Rule::OpenAi, &mut changes);
    let Converted { dropped, .. } = convert(request.clone(), server, Answer::Whole);
    for field in dropped {
        leave_out(&mut request, &field);
        let effect = !WITHOUT_EFFECT.iter().any(|ending| field.ends_with(ending));
        let how = if effect { How::Dropped } else { How::Ignored };
        changes.push(Change { field, how, why: "a chat completion cannot say it".to_owned() });
    }
    request.tools.retain(|tool| !tool.function_declarations.is_empty() || !tool.extra.is_empty());
    (request, changes)
}

/// `path` is as the conversion names it.
fn leave_out(request: &mut GenerateContentRequest, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, index) = indexed(first);
    match name {
        "contents" => {
            request.contents.get_mut(index).into_iter().for_each(|content| of_content(content, rest))
        }
        "systemInstruction" => {
            request.system_instruction.iter_mut().for_each(|content| of_content(content, rest));
        }
        "tools" => request.tools.get_mut(index).into_iter().for_each(|tool| of_tool(tool, rest)),
        "generationConfig" => {
            request.generation_config.iter_mut().for_each(|config| of_config(config, rest));
        }
        "toolConfig" => {
            let config = request.tool_config.get_or_insert_default();
            match (rest, &mut config.function_calling_config) {
                ("functionCallingConfig.mode", Some(calling)) => "AUTO".clone_into(&mut calling.mode),
                _ => config.extra.clear(),
            }
        }
        "safetySettings" => request.safety_settings.clear(),
        "cachedContent" => request.cached_content.clear(),
        "labels" => request.labels.clear(),
        _ => request.extra.clear(),
    }
}

fn of_content(content: &mut Content, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    if let Some(part) = content.parts.get_mut(indexed(first).1) {
        of_part(part, rest);
    }
}

fn of_part(part: &mut Part, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match (first, &mut part.data) {
        ("thoughtSignature", _) => part.thought_signature.clear(),
        // Said in words, since it answers nothing.
        ("functionResponse", _) if rest == "id" => {}
        ("functionResponse", Some(Data::FunctionResponse(told))) if !rest.is_empty() => {
            let (inner, more) = rest.split_once('.').unwrap_or((rest, ""));
            told.parts.get_mut(indexed(inner).1).into_iter().for_each(|part| of_part(part, more));
        }
        ("" | "inlineData" | "fileData" | "functionCall" | "functionResponse", data) => *data = None,
        _ => part.extra.clear(),
    }
}

fn of_tool(tool: &mut Tool, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let ("functionDeclarations", index) = indexed(first) else { return tool.extra.clear() };
    let Some(function) = tool.function_declarations.get_mut(index) else { return };
    match rest {
        "response" => function.response.clear(),
        _ => function.response_json_schema.clear(),
    }
}

fn of_config(config: &mut GenerationConfig, path: &str) {
    match indexed(path) {
        ("topK", _) => config.top_k = None,
        ("responseModalities", _) => config.response_modalities.clear(),
        ("logprobs", _) => config.logprobs = None,
        ("responseMimeType", _) => config.response_mime_type.clear(),
        // The last ones are told, each.
        ("stopSequences", _) => drop(config.stop_sequences.pop()),
        _ => config.extra.clear(),
    }
}

/// `parts[1]` is the second of `parts`.
fn indexed(step: &str) -> (&str, usize) {
    match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
        Some((name, index)) => (name, index.parse().unwrap_or_default()),
        None => (step, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    #[test]
    fn what_is_told_is_left_out_and_the_rest_is_said_as_before() {
        let text = r#"{"contents":[{"role":"user","parts":[{"text":"a","x":1},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://a"}}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"a.b","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"a.b","response":{}}}]}],"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"a.b","response":{"type":"STRING"}}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}},"safetySettings":[{"category":"c"}],"labels":{"a":"b"},"generationConfig":{"topK":5,"seed":1,"stopSequences":["1","2","3","4","5"],"speechConfig":{}},"store":true}"#;
        let given: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
        let (fitted, changes) = fit(given.clone(), Server::OpenAi);
        let told: Vec<String> =
            changes.iter().map(|change| format!("{}: {}", change.field, change.how.as_str())).collect();
        assert_eq!(
            told,
            [
                "tools[a.b].name: ignored",
                "safetySettings: dropped",
                "labels: ignored",
                "store: dropped",
                "contents[0].parts[0].x: dropped",
                "contents[0].parts[1].fileData: dropped",
                "contents[1].parts[0].thoughtSignature: ignored",
                "tools[0].googleSearch: dropped",
                "tools[1].functionDeclarations[0].response: dropped",
                "toolConfig.functionCallingConfig.mode: dropped",
                "generationConfig.topK: dropped",
                "generationConfig.speechConfig: dropped",
                "generationConfig.stopSequences[4]: dropped",
            ]
        );
        let (again, nothing) = fit(fitted.clone(), Server::OpenAi);
        assert_eq!((&again, nothing.len()), (&fitted, 0));
        let mut renamed = given;
        Names::fit(&mut renamed, Rule::OpenAi, &mut Vec::new());
        let said = |request| convert(request, Server::OpenAi, Answer::Whole).request;
        assert_eq!(said(fitted), said(renamed));
    }

    #[test]
    fn what_may_be_seen_is_what_max_tokens_says() {
        for (visible, most, expected) in [
            (Some(5), None, (Some(5), None)),
            (Some(5), Some(3), (Some(3), None)),
            (None, Some(3), (None, Some(3))),
        ] {
            let config = GenerationConfig {
                visible_output_tokens: visible,
                max_output_tokens: most,
                ..Default::default()
            };
            let request = GenerateContentRequest { generation_config: Some(config), ..Default::default() };
            let said = convert(request, Server::OpenAi, Answer::Whole).request;
            assert_eq!((said.max_tokens, said.max_completion_tokens), expected);
        }
    }
}
