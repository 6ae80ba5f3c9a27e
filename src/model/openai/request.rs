//! The hub's request as a chat completion request. Pure. What cannot be said there is left out and named; the backend
//! calls it and logs those names.

mod config;
mod part;
mod schema;
mod tools;
mod turns;

use crate::proto::gemini::GenerateContentRequest;
use crate::proto::openai::{ChatCompletionRequest, StreamOptions};
use crate::proto::vendor::Members;

/// A request, and what of the hub's it does not say as it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    pub request: ChatCompletionRequest,
    /// Paths such as `contents[0].parts[1].inlineData`.
    pub dropped: Vec<String>,
}

/// Whose rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// OpenAI's own. Its newer models refuse `max_tokens`, and it refuses members that it does not know.
    OpenAi,
    /// Those that follow it. They read `max_tokens`, and Ollama reads nothing else: with `max_completion_tokens` alone it
    /// answers without a limit. What they do not know they skip.
    Compatible,
}

impl Server {
    /// Who stands there, as far as the address tells.
    pub fn at(base_url: &str) -> Self {
        let host =
            base_url.split("://").nth(1).unwrap_or(base_url).split(['/', ':']).next().unwrap_or_default();
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is("openai.com") || is("openai.azure.com") { Self::OpenAi } else { Self::Compatible }
    }
}

/// How the answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Streamed,
    Whole,
}

pub fn convert(request: GenerateContentRequest, server: Server, answer: Answer) -> Converted {
    let mut dropped = Dropped::default();
    dropped.request(&request);
    let mut out = ChatCompletionRequest { model: request.model, ..ChatCompletionRequest::default() };
    out.messages = turns::messages(request.system_instruction, request.contents, server, &mut dropped);
    (out.tools, out.tool_choice) = tools::tools(request.tools, request.tool_config, &mut dropped);
    if let Some(config) = request.generation_config {
        config::configure(&mut out, config, server, &mut dropped);
    }
    if answer == Answer::Streamed {
        out.stream = Some(true);
        // Without it a stream ends without a word on what it took.
        out.stream_options = Some(StreamOptions { include_usage: Some(true), ..StreamOptions::default() });
    }
    Converted { request: out, dropped: dropped.0 }
}

/// The paths of what is left out.
#[derive(Debug, Default)]
struct Dropped(Vec<String>);

impl Dropped {
    fn note(&mut self, path: impl Into<String>) {
        self.0.push(path.into());
    }

    /// Each member of an object (JSON text) that stands at `path`.
    fn members(&mut self, path: &str, object: &str) {
        if object.is_empty() {
            return;
        }
        let Ok(Members(members)) = serde_json::from_str(object) else { return };
        let dot = if path.is_empty() { "" } else { "." };
        self.0.extend(members.iter().map(|(name, _)| format!("{path}{dot}{name}")));
    }

    fn request(&mut self, request: &GenerateContentRequest) {
        let said = [
            (!request.safety_settings.is_empty(), "safetySettings"),
            (!request.cached_content.is_empty(), "cachedContent"),
            (!request.labels.is_empty(), "labels"),
        ];
        self.0.extend(said.iter().filter(|(is_said, _)| *is_said).map(|(_, path)| (*path).to_owned()));
        self.members("", &request.extra);
    }
}
