//! The hub's chunks as events of a message, in the order that the vendor promises.

use super::carrier;
use super::fold::fold;
use super::grounding::{Fetched, Grounding};
use super::line::{Line, Out};
use super::settings::Show;
use super::stop::{Ended, stop};
use super::usage::usage;
use crate::domain::error::Error;
use crate::facade::{Names, Reply};
use crate::proto::anthropic::block::Block as Kind;
use crate::proto::anthropic::message_stream_event::Event;
use crate::proto::anthropic::{
    Message, MessageDelta, MessageStart, MessageStop, MessageStreamEvent, Ping, RedactedThinkingBlock,
    ServerToolResultBlock, StopDelta, ToolUseBlock,
};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    Candidate, CodeExecutionResult, ExecutableCode, FunctionCall, GenerateContentResponse, Part,
    UsageMetadata,
};

/// What the request says of its answer.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) show: Show,
    /// Whether several calls may be made at once.
    pub(super) parallel: bool,
    /// Only the cache was to be warmed: there is no answer.
    pub(super) warm: bool,
}

#[derive(Debug)]
pub struct Answer {
    wanted: Wanted,
    begun: bool,
    line: Line,
    ended: Ended,
    counted: UsageMetadata,
    grounding: String,
    fetched: String,
    /// Of the text that was said last.
    text_signature: String,
    /// Calls of tools on the model's side, for their ids.
    server_calls: usize,
}

impl Answer {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            begun: false,
            line: Line::new(),
            ended: Ended::default(),
            counted: UsageMetadata::default(),
            grounding: String::new(),
            fetched: String::new(),
            text_signature: String::new(),
            server_calls: 0,
        }
    }

    fn begin(&mut self, out: &mut Out) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let message = Message {
            id: format!("msg_{}", self.wanted.id),
            r#type: "message".to_owned(),
            role: "assistant".to_owned(),
            model: self.wanted.model.clone(),
            usage: Some(usage(&self.counted, 0, 0)),
            ..Message::default()
        };
        out.push(Event::MessageStart(MessageStart { message: Some(message) }).into());
        out.push(Event::Ping(Ping {}).into());
    }

    fn candidate(&mut self, candidate: Candidate, out: &mut Out) {
        let parts = candidate.content.map(|content| content.parts).unwrap_or_default();
        parts.into_iter().for_each(|part| self.part(part, out));
        for (member, new) in [
            (&mut self.ended.reason, candidate.finish_reason),
            (&mut self.ended.message, candidate.finish_message),
            (&mut self.grounding, candidate.grounding_metadata),
            (&mut self.fetched, candidate.url_context_metadata),
        ] {
            if !new.is_empty() {
                *member = new;
            }
        }
    }

    fn part(&mut self, part: Part, out: &mut Out) {
        let Part { data, thought, thought_signature, .. } = part;
        match data {
            Some(Data::Text(text)) if thought => self.thought(text, &thought_signature, out),
            Some(Data::Text(text)) => self.text(text, thought_signature, out),
            Some(Data::FunctionCall(call)) => self.call(call, &thought_signature, out),
            Some(Data::ExecutableCode(code)) => self.code(&code, out),
            Some(Data::CodeExecutionResult(result)) => self.ran(&result, out),
            Some(Data::InlineData(blob)) => {
                let note = format!("[The model gave {}, which this API cannot carry.]", blob.mime_type);
                self.line.text(note, out);
            }
            Some(Data::FileData(file)) => self.line.text(file.file_uri, out),
            Some(Data::FunctionResponse(_)) | None => {}
        }
    }

    /// Often the signature comes behind the text, with none of its own.
    fn text(&mut self, text: String, signature: String, out: &mut Out) {
        if !text.is_empty() {
            self.line.text(text, out);
        }
        if !signature.is_empty() {
            self.text_signature = signature;
        }
    }

    /// The signature of a text goes behind it, for clients that know of thoughts and so send such a block back.
    fn seal(&mut self, out: &mut Out) {
        let signature = std::mem::take(&mut self.text_signature);
        if !signature.is_empty() && self.wanted.show != Show::Hidden {
            let data = carrier::for_text(&signature);
            let block = RedactedThinkingBlock { data, ..RedactedThinkingBlock::default() };
            self.line.whole(Kind::RedactedThinking(block), out);
        }
    }

    fn thought(&mut self, text: String, signature: &str, out: &mut Out) {
        self.seal(out);
        if self.wanted.show == Show::Hidden {
            return;
        }
        let shown = self.wanted.show == Show::Whole && !text.is_empty();
        self.line.thought(shown.then_some(text), out);
        if !signature.is_empty() {
            self.line.sign(carrier::for_thought(signature), out);
        }
    }

    /// The signature of a call goes before it, under the thought that led there or in a block of its own: clients send
    /// those back, and nothing that they do not know.
    fn call(&mut self, call: FunctionCall, signature: &str, out: &mut Out) {
        if self.ended.called && !self.wanted.parallel {
            return;
        }
        self.ended.called = true;
        self.seal(out);
        if !signature.is_empty() {
            let carried = carrier::for_call(signature);
            if !self.line.sign(carried.clone(), out) {
                let block = RedactedThinkingBlock { data: carried, ..RedactedThinkingBlock::default() };
                self.line.whole(Kind::RedactedThinking(block), out);
            }
        }
        let FunctionCall { id, name, args } = call;
        self.line.call(ToolUseBlock { id, name, input: args, ..ToolUseBlock::default() }, Kind::ToolUse, out);
    }

    fn server_call(&mut self, name: &str, input: String, out: &mut Out) -> String {
        let id = format!("srvtoolu_{}{:02}", self.wanted.id, self.server_calls);
        self.server_calls += 1;
        let call = ToolUseBlock { id: id.clone(), name: name.to_owned(), input, ..ToolUseBlock::default() };
        self.line.call(call, Kind::ServerToolUse, out);
        id
    }

    fn code(&mut self, code: &ExecutableCode, out: &mut Out) {
        let input = serde_json::json!({ "code": code.code }).to_string();
        self.server_call("code_execution", input, out);
    }

    /// Of the code that ran last.
    fn ran(&mut self, result: &CodeExecutionResult, out: &mut Out) {
        let last = self.server_calls.saturating_sub(1);
        let id = format!("srvtoolu_{}{last:02}", self.wanted.id);
        let well = result.outcome == "OUTCOME_OK";
        let (stdout, stderr) = if well { (result.output.as_str(), "") } else { ("", result.output.as_str()) };
        let content = if result.outcome == "OUTCOME_DEADLINE_EXCEEDED" {
            serde_json::json!({"type": "code_execution_tool_result_error", "error_code": "execution_time_exceeded"})
        } else {
            serde_json::json!({"type": "code_execution_result", "stdout": stdout, "stderr": stderr, "return_code": i32::from(!well), "content": []})
        };
        self.line.whole(Kind::CodeExecutionToolResult(given(id, content.to_string())), out);
    }

    /// What was looked up is known at the end only: its sources go under the text that is still open.
    fn looked_up(&mut self, out: &mut Out) -> (usize, usize) {
        let (grounding, fetched) = (Grounding::read(&self.grounding), Fetched::read(&self.fetched));
        for citation in grounding.citations() {
            self.line.cite(citation, out);
        }
        if !grounding.is_empty() {
            let id = self.server_call("web_search", grounding.query(), out);
            self.line.whole(Kind::WebSearchToolResult(given(id, grounding.results())), out);
        }
        for page in &fetched.url_metadata {
            let id = self.server_call("web_fetch", page.input(), out);
            self.line.whole(Kind::WebFetchToolResult(given(id, page.result())), out);
        }
        (grounding.web_search_queries.len(), fetched.url_metadata.len())
    }

    fn end(&mut self, delta: StopDelta, looked_up: (usize, usize), out: &mut Out) {
        self.line.close(out);
        let mut usage = usage(&self.counted, looked_up.0, looked_up.1);
        if self.wanted.warm {
            usage.output_tokens = 0;
            usage.output_tokens_details = None;
        }
        out.push(Event::MessageDelta(MessageDelta { delta: Some(delta), usage: Some(usage) }).into());
        out.push(Event::MessageStop(MessageStop {}).into());
    }
}

fn given(tool_use_id: String, content: String) -> ServerToolResultBlock {
    ServerToolResultBlock { tool_use_id, content, ..ServerToolResultBlock::default() }
}

impl Reply for Answer {
    type Event = MessageStreamEvent;
    type Answer = Message;

    const CALL: &'static str = "toolu_";
    const NAMES: Names = &[
        ("contents", "messages"),
        ("generationConfig.maxOutputTokens", "max_tokens"),
        ("generationConfig.responseJsonSchema", "output_config.format.schema"),
        ("generationConfig.responseMimeType", "output_config.format"),
        ("generationConfig.stopSequences", "stop_sequences"),
        ("generationConfig.temperature", "temperature"),
        ("generationConfig.thinkingConfig.thinkingBudget", "thinking.budget_tokens"),
        ("generationConfig.thinkingConfig.thinkingLevel", "output_config.effort"),
        ("generationConfig.thinkingConfig", "thinking"),
        ("generationConfig.topK", "top_k"),
        ("generationConfig.topP", "top_p"),
        ("generationConfig.visibleOutputTokens", "max_tokens"),
        ("toolConfig.functionCallingConfig", "tool_choice"),
    ];

    fn push(&mut self, chunk: GenerateContentResponse, out: &mut Out) -> Result<(), Error> {
        if let Some(counted) = chunk.usage_metadata {
            self.counted = counted;
        }
        if let Some(feedback) = chunk.prompt_feedback.filter(|feedback| !feedback.block_reason.is_empty()) {
            self.ended.blocked = feedback.block_reason;
            self.ended.message = feedback.block_reason_message;
        }
        self.begin(out);
        // This API has one answer.
        let first = chunk.candidates.into_iter().filter(|candidate| candidate.index == 0);
        if !self.wanted.warm {
            first.for_each(|candidate| self.candidate(candidate, out));
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Out) -> Result<(), Error> {
        self.begin(out);
        if self.wanted.warm {
            let delta = StopDelta { stop_reason: Some("max_tokens".to_owned()), ..StopDelta::default() };
            self.end(delta, (0, 0), out);
            return Ok(());
        }
        let looked_up = self.looked_up(out);
        self.seal(out);
        self.ended.said = !self.line.is_empty();
        let (delta, instead) = stop(std::mem::take(&mut self.ended))?;
        if let Some(text) = instead {
            self.line.text(text, out);
        }
        self.end(delta, looked_up, out);
        Ok(())
    }

    fn answer(mut self, whole: GenerateContentResponse) -> Result<Message, Error> {
        let mut events = Vec::new();
        self.push(whole, &mut events)?;
        self.finish(&mut events)?;
        Ok(fold(events))
    }
}
