//! How the model answers.

use super::{Dropped, Server, schema};
use crate::proto::gemini::{GenerationConfig, ThinkingConfig};
use crate::proto::openai::{ChatCompletionRequest, JsonSchema, ResponseFormat};

/// OpenAI refuses more.
const MOST_STOPS: usize = 4;
/// Up to which budget of thoughts an effort is a small or a middling one.
const EFFORTS: &[(i32, &str)] = &[(0, "none"), (2_048, "low"), (16_384, "medium")];

pub fn configure(
    out: &mut ChatCompletionRequest,
    mut config: GenerationConfig,
    server: Server,
    dropped: &mut Dropped,
) {
    unsaid(&config, dropped);
    out.temperature = config.temperature;
    out.top_p = config.top_p;
    out.presence_penalty = config.presence_penalty;
    out.frequency_penalty = config.frequency_penalty;
    out.seed = config.seed;
    out.n = config.candidate_count.filter(|count| *count != 1);
    // No name is read by all; who refuses which is told at `Server`. Of what may be seen only one speaks.
    match server {
        _ if config.visible_output_tokens.is_some() => {
            let bounds = [config.visible_output_tokens, config.max_output_tokens];
            out.max_tokens = bounds.into_iter().flatten().min();
        }
        Server::OpenAi => out.max_completion_tokens = config.max_output_tokens,
        Server::Compatible => out.max_tokens = config.max_output_tokens,
    }
    out.logprobs = config.response_logprobs;
    out.top_logprobs = config.logprobs.filter(|_| config.response_logprobs == Some(true));
    out.stop = stops(std::mem::take(&mut config.stop_sequences), server, dropped);
    out.reasoning_effort = effort(config.thinking_config.take().unwrap_or_default(), server).to_owned();
    out.response_format = format(config, dropped);
}

fn unsaid(config: &GenerationConfig, dropped: &mut Dropped) {
    if config.top_k.is_some() {
        dropped.note("generationConfig.topK");
    }
    if config.response_modalities.iter().any(|modality| modality != "TEXT") {
        dropped.note("generationConfig.responseModalities");
    }
    if config.logprobs.is_some() && config.response_logprobs != Some(true) {
        dropped.note("generationConfig.logprobs");
    }
    dropped.members("generationConfig", &config.extra);
}

fn stops(mut stops: Vec<String>, server: Server, dropped: &mut Dropped) -> Vec<String> {
    if server == Server::OpenAi && stops.len() > MOST_STOPS {
        for at in MOST_STOPS..stops.len() {
            dropped.note(format!("generationConfig.stopSequences[{at}]"));
        }
        stops.truncate(MOST_STOPS);
    }
    stops
}

/// Nothing where the model shall decide.
fn effort(thinking: ThinkingConfig, server: Server) -> &'static str {
    match (thinking.thinking_level.as_str(), thinking.thinking_budget, server) {
        ("MINIMAL", _, Server::OpenAi) => "minimal",
        // A word that Ollama and vLLM refuse.
        ("MINIMAL" | "LOW", ..) => "low",
        ("MEDIUM", ..) => "medium",
        ("HIGH", ..) => "high",
        (_, Some(budget), _) if budget >= 0 => {
            EFFORTS.iter().find(|(most, _)| budget <= *most).map_or("high", |(_, effort)| effort)
        }
        _ => "",
    }
}

fn format(config: GenerationConfig, dropped: &mut Dropped) -> Option<ResponseFormat> {
    let schema = match (config.response_json_schema, config.response_schema) {
        (schema, _) if !schema.is_empty() => schema,
        (_, schema) if !schema.is_empty() => schema::json_schema(&schema),
        _ => String::new(),
    };
    let format = |kind: &str| ResponseFormat { r#type: kind.to_owned(), ..ResponseFormat::default() };
    match (config.response_mime_type.as_str(), schema.is_empty()) {
        ("" | "text/plain", true) => None,
        ("application/json", true) => Some(format("json_object")),
        (mime, false) => {
            if !matches!(mime, "" | "application/json") {
                dropped.note("generationConfig.responseMimeType");
            }
            let schema = JsonSchema { name: "answer".to_owned(), schema, ..JsonSchema::default() };
            Some(ResponseFormat { json_schema: Some(schema), ..format("json_schema") })
        }
        _ => {
            dropped.note("generationConfig.responseMimeType");
            None
        }
    }
}
