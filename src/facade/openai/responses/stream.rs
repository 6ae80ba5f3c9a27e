//! An answer on its way back: parts of the hub become items, one after the other, and each is told in events. A whole answer
//! is the end of the same way.

mod grounding;
mod open;
mod write;

use self::open::Open;
use self::write::Writer;
use super::finish::{self, End};
use super::history::hide;
use super::signature::Seal;
use super::tools::Tools;
use super::{ENCRYPTED, SOURCES, error};
use crate::domain::error::{Cause, Error};
use crate::facade::{Names, Reply};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    Blob, Candidate, FunctionCall, GenerateContentResponse, Part, PromptFeedback, UsageMetadata,
};
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::response_event::Event;
use crate::proto::openai::{
    ImageGenerationCallItem, IncompleteDetails, InputTokensDetails, OutputTokensDetails, Response,
    ResponseEvent, ResponseState, ResponseUsage,
};

/// What the client is told, and with the last of it what is to be stored.
#[derive(Debug)]
pub struct Told<T> {
    pub told: T,
    /// With what only the model can read.
    pub keep: Option<Box<Response>>,
}

/// What is to be told besides the usual.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Include {
    pub(super) encrypted: bool,
    pub(super) sources: bool,
}

impl Include {
    pub(super) fn of(include: &[String]) -> Self {
        let has = |name: &str| include.iter().any(|one| one == name);
        Self { encrypted: has(ENCRYPTED), sources: has(SOURCES) }
    }
}

#[derive(Debug)]
pub struct Answer {
    response: Response,
    tools: Tools,
    include: Include,
    writer: Writer,
    begun: bool,
    open: Open,
    /// Of a text, until it is over.
    signature: String,
    calls: usize,
    grounding: String,
    finish: (String, String),
    feedback: Option<PromptFeedback>,
    usage: Option<UsageMetadata>,
}

impl Answer {
    pub(super) fn new(response: Response, tools: Tools, include: Include, id: &str) -> Self {
        Self {
            response,
            tools,
            include,
            writer: Writer::new(id, include.encrypted),
            begun: false,
            open: Open::Nothing,
            signature: String::new(),
            calls: 0,
            grounding: String::new(),
            finish: Default::default(),
            feedback: None,
            usage: None,
        }
    }

    /// The answer before anything was said.
    pub fn opening(&self) -> Response {
        self.response.clone()
    }

    fn begin(&mut self, out: &mut Vec<Told<ResponseEvent>>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let state = || ResponseState { response: Some(self.response.clone()) };
        let queued = (self.response.background == Some(true)).then(|| Event::Queued(state()));
        for event in [Event::Created(state())].into_iter().chain(queued).chain([Event::InProgress(state())]) {
            self.writer.event(event, out);
        }
    }

    fn candidate(&mut self, candidate: Candidate, out: &mut Vec<Told<ResponseEvent>>) {
        for part in candidate.content.into_iter().flat_map(|content| content.parts) {
            self.part(part, out);
        }
        if !candidate.grounding_metadata.is_empty() {
            self.grounding = candidate.grounding_metadata;
        }
        if !candidate.finish_reason.is_empty() {
            self.finish = (candidate.finish_reason, candidate.finish_message);
        }
    }

    fn part(&mut self, part: Part, out: &mut Vec<Told<ResponseEvent>>) {
        let Part { data, thought, thought_signature, .. } = part;
        match data {
            Some(Data::Text(text)) if thought => self.think(&text, out),
            Some(Data::Text(text)) => self.say(&text, thought_signature, out),
            Some(Data::FunctionCall(call)) => self.call(call, thought_signature, out),
            Some(Data::InlineData(blob)) if !thought => self.picture(blob, out),
            Some(Data::ExecutableCode(code)) => {
                self.close(out);
                self.open = Open::code(&mut self.writer, code.code, out);
            }
            Some(Data::CodeExecutionResult(result)) => {
                self.open.logs(result.output);
                self.close(out);
            }
            _ => {}
        }
    }

    fn think(&mut self, text: &str, out: &mut Vec<Told<ResponseEvent>>) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.open, Open::Reasoning { .. }) {
            self.close(out);
            self.open = Open::reasoning(&mut self.writer, out);
        }
        self.open.grow(text, &mut self.writer, out);
    }

    fn say(&mut self, text: &str, signature: String, out: &mut Vec<Told<ResponseEvent>>) {
        if !text.is_empty() {
            if !matches!(self.open, Open::Message { .. }) {
                self.close(out);
                self.open = Open::message(&mut self.writer, out);
            }
            self.open.grow(text, &mut self.writer, out);
        }
        if !signature.is_empty() {
            self.signature = signature;
        }
    }

    /// A signature stands in the thought before the call, whether or not anything was thought aloud.
    fn call(&mut self, call: FunctionCall, signature: String, out: &mut Vec<Told<ResponseEvent>>) {
        if self.calls > 0 && !self.response.parallel_tool_calls {
            return;
        }
        self.calls += 1;
        let seal = (!signature.is_empty()).then(|| Seal::Call { id: call.id.clone(), signature }.print());
        match (&self.open, seal) {
            (Open::Reasoning { .. }, seal) => self.close_sealed(seal, out),
            (_, None) => self.close(out),
            (_, seal) => {
                self.close(out);
                if self.include.encrypted || self.response.store {
                    self.writer.thought(seal, out);
                }
            }
        }
        let (prefix, item) = self.tools.back(call);
        self.writer.call(prefix, item, out);
    }

    fn picture(&mut self, blob: Blob, out: &mut Vec<Told<ResponseEvent>>) {
        self.close(out);
        let id = self.writer.id("ig");
        let status = "completed".to_owned();
        let item = ImageGenerationCallItem { id, status, result: blob.data, ..Default::default() };
        self.writer.progress(
            Kind::ImageGenerationCall(item),
            [Event::ImageGenerationCallInProgress, Event::ImageGenerationCallCompleted],
            out,
        );
    }

    fn close(&mut self, out: &mut Vec<Told<ResponseEvent>>) {
        self.close_sealed(None, out);
    }

    fn close_sealed(&mut self, seal: Option<String>, out: &mut Vec<Told<ResponseEvent>>) {
        let open = std::mem::replace(&mut self.open, Open::Nothing);
        let said = matches!(open, Open::Message { .. });
        open.close(seal, &self.grounding, &mut self.writer, out);
        let signature = std::mem::take(&mut self.signature);
        if !signature.is_empty() && said && self.include.encrypted {
            self.writer.thought(Some(Seal::Text { signature }.print()), out);
        }
    }

    fn end(&self) -> Result<End, Error> {
        match &self.feedback {
            Some(feedback) if !feedback.block_reason.is_empty() && self.finish.0.is_empty() => {
                Ok(finish::blocked(feedback))
            }
            _ => finish::end(&self.finish.0, &self.finish.1),
        }
    }

    /// The last event.
    fn over(&mut self, status: &str, out: &mut Vec<Told<ResponseEvent>>) {
        let mut full = std::mem::take(&mut self.response);
        full.status = status.to_owned();
        full.output = self.writer.items();
        full.usage = self.usage.take().map(|usage| spent(&usage));
        let mut shown = full.clone();
        if !self.include.encrypted {
            shown.output.iter_mut().for_each(hide);
        }
        let state = ResponseState { response: Some(shown) };
        let event = match status {
            "completed" => Event::Completed(state),
            "incomplete" => Event::Incomplete(state),
            _ => Event::Failed(state),
        };
        self.writer.event(event, out);
        if let Some(last) = out.last_mut().filter(|_| full.store) {
            last.keep = Some(Box::new(full));
        }
    }
}

/// All that went in, and all that came out with the thoughts.
fn spent(usage: &UsageMetadata) -> ResponseUsage {
    let input_tokens = i64::from(usage.prompt_token_count) + i64::from(usage.tool_use_prompt_token_count);
    let reasoning_tokens = i64::from(usage.thoughts_token_count);
    let output_tokens = i64::from(usage.candidates_token_count) + reasoning_tokens;
    let cached_tokens = i64::from(usage.cached_content_token_count);
    ResponseUsage {
        input_tokens,
        input_tokens_details: Some(InputTokensDetails { cached_tokens }),
        output_tokens,
        output_tokens_details: Some(OutputTokensDetails { reasoning_tokens }),
        total_tokens: input_tokens + output_tokens,
    }
}

impl Reply for Answer {
    type Event = Told<ResponseEvent>;
    type Answer = Told<Response>;

    const CALL: &'static str = "call_";
    const NAMES: Names = &[
        ("contents", "input"),
        ("generationConfig.maxOutputTokens", "max_output_tokens"),
        ("generationConfig.responseJsonSchema", "text.format.schema"),
        ("generationConfig.responseMimeType", "text.format"),
        ("generationConfig.temperature", "temperature"),
        ("generationConfig.thinkingConfig.includeThoughts", "reasoning.summary"),
        ("generationConfig.thinkingConfig.thinkingBudget", "reasoning.effort"),
        ("generationConfig.thinkingConfig.thinkingLevel", "reasoning.effort"),
        ("generationConfig.thinkingConfig", "reasoning"),
        ("generationConfig.topP", "top_p"),
        ("toolConfig.functionCallingConfig", "tool_choice"),
    ];

    fn push(&mut self, chunk: GenerateContentResponse, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        self.begin(out);
        self.usage = chunk.usage_metadata.or(self.usage.take());
        self.feedback = chunk.prompt_feedback.or(self.feedback.take());
        for candidate in chunk.candidates.into_iter().filter(|candidate| candidate.index == 0) {
            self.candidate(candidate, out);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        let end = self.end()?;
        self.begin(out);
        let (status, details) = match &end {
            End::Completed => ("completed", None),
            End::Incomplete { reason, .. } => {
                ("incomplete", Some(IncompleteDetails { reason: (*reason).to_owned() }))
            }
        };
        self.writer.ends(status);
        self.close(out);
        if let Some(search) = grounding::search(&self.grounding, self.writer.id("ws"), self.include.sources) {
            self.writer.progress(
                Kind::WebSearchCall(search),
                [
                    Event::WebSearchCallInProgress,
                    Event::WebSearchCallSearching,
                    Event::WebSearchCallCompleted,
                ],
                out,
            );
        }
        if let End::Incomplete { words, .. } = end
            && !words.is_empty()
            && self.writer.is_silent()
        {
            self.writer.refusal(words, out);
        }
        self.response.incomplete_details = details;
        self.over(status, out);
        Ok(())
    }

    fn fail(&mut self, error: &Error, out: &mut Vec<Self::Event>) -> bool {
        self.begin(out);
        self.response.error = Some(error::failed(&error.clone().into()));
        self.over("failed", out);
        true
    }

    fn answer(mut self, whole: GenerateContentResponse) -> Result<Told<Response>, Error> {
        let mut events = Vec::new();
        self.push(whole, &mut events)?;
        self.finish(&mut events)?;
        let last = events.pop().and_then(|Told { told, keep }| match told.event? {
            Event::Completed(state) | Event::Incomplete(state) => Some(Told { told: state.response?, keep }),
            _ => None,
        });
        last.ok_or_else(|| Error::new(Cause::Internal, "the answer has no end"))
    }
}
