//! Answers in JSON beside tools: models that refuse both together are asked for it in words.

use super::super::Abilities;
use super::Changes;
use crate::proto::gemini::{Content, GenerateContentRequest, GenerationConfig, Part};

const JSON: &str = "application/json";

pub(super) fn fit(request: &mut GenerateContentRequest, abilities: &Abilities, changes: &mut Changes) {
    let Some(config) = &mut request.generation_config else { return };
    let wants = config.response_mime_type == JSON
        || !config.response_json_schema.is_empty()
        || !config.response_schema.is_empty();
    if abilities.json_beside_tools || request.tools.is_empty() || !wants {
        return;
    }
    changes.altered(
        "generationConfig.responseMimeType",
        "this model gives no JSON beside tools; asked for in words",
    );
    let words = in_words(config);
    let system = request.system_instruction.get_or_insert_with(Content::default);
    system.parts.push(Part::text(words));
}

fn in_words(config: &mut GenerationConfig) -> String {
    config.response_mime_type.clear();
    let (full, own) =
        (std::mem::take(&mut config.response_json_schema), std::mem::take(&mut config.response_schema));
    let schema = if full.is_empty() { own } else { full };
    let such = if schema.is_empty() { String::new() } else { format!(" by this schema: {schema}") };
    format!("When you call no function, answer with nothing but JSON{such}")
}
