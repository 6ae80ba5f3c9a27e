//! The rehearsal as a model: requests in, chunks out.

mod besides;
mod lines;
mod plain;
mod scripts;
mod transcripts;

use futures::StreamExt;

use super::*;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    Content, FunctionCall, FunctionDeclaration, FunctionResponse, GenerateContentResponse, Part as HubPart,
    Tool,
};

const TOOLS: [&str; 11] = [
    "list_directory",
    "read_file",
    "write_file",
    "replace",
    "glob",
    "grep_search",
    "run_shell_command",
    "save_memory",
    "write_todos",
    "ask_user",
    "web_fetch",
];

fn user(text: &str) -> Content {
    Content { role: "user".into(), parts: vec![HubPart::of(Data::Text(text.into()))] }
}

fn model(text: &str) -> Content {
    Content { role: "model".into(), ..user(text) }
}

fn called(id: &str) -> Content {
    let call = FunctionCall { id: id.into(), name: "f".into(), args: "{}".into() };
    Content { role: "model".into(), parts: vec![HubPart::of(Data::FunctionCall(call))] }
}

fn response(json: &str) -> HubPart {
    let response =
        FunctionResponse { name: "f".into(), response: json.into(), ..FunctionResponse::default() };
    HubPart::of(Data::FunctionResponse(response))
}

fn tools_say(json: &str) -> Content {
    Content { role: "user".into(), parts: vec![response(json)] }
}

fn request(contents: &[Content]) -> GenerateContentRequest {
    let declare =
        |name: &&str| FunctionDeclaration { name: (*name).into(), ..FunctionDeclaration::default() };
    let tool = Tool { function_declarations: TOOLS.iter().map(declare).collect(), ..Tool::default() };
    GenerateContentRequest {
        contents: contents.to_vec(),
        tools: vec![tool],
        ..GenerateContentRequest::default()
    }
}

type Answered = Vec<Result<GenerateContentResponse, ModelError>>;

fn ask(rehearsal: &Rehearsal, contents: &[Content]) -> Answered {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(rehearsal.stream(request(contents)).collect())
}

/// A line per chunk: `say`, `think`, `call id tool args signature`, `error`, and the end with its tokens.
fn shown(answer: Answered) -> Vec<String> {
    answer
        .into_iter()
        .map(|chunk| chunk.map_or_else(|e| format!("error {:?} {e} {:?}", e.cause, e.retry_after), show))
        .collect()
}

fn show(chunk: GenerateContentResponse) -> String {
    let candidate = &chunk.candidates[0];
    let content = candidate.content.as_ref().unwrap();
    assert_eq!((content.role.as_str(), chunk.model_version.as_str()), ("model", "rehearsal"));
    if let Some(usage) = &chunk.usage_metadata {
        let (input, output) = (usage.prompt_token_count, usage.candidates_token_count);
        assert_eq!(usage.total_token_count, input + output + usage.thoughts_token_count);
        return format!("{} {input}+{output}+{}", candidate.finish_reason, usage.thoughts_token_count);
    }
    assert_eq!(candidate.finish_reason, "");
    content.parts.iter().map(part).collect::<Vec<_>>().join(" & ")
}

fn part(part: &HubPart) -> String {
    match part.data.as_ref().unwrap() {
        Data::Text(text) if part.thought => format!("think {text}"),
        Data::Text(text) => format!("say {text}"),
        Data::FunctionCall(call) => {
            format!("call {} {} {} {}", call.id, call.name, call.args, part.thought_signature)
        }
        other => panic!("{other:?}"),
    }
}
