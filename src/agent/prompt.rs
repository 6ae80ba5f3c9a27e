//! What the model is asked with: who it is, where it works, what it may call, and what was said. Pure.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::conversation::{USER, text};
use crate::domain::tool::Declaration;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{
    Content, FunctionDeclaration, GenerateContentRequest, GenerationConfig, Part, ThinkingConfig, Tool,
};

const WHO: &str = include_str!("prompt/system.md");
const CIRCLES: &str = include_str!("prompt/circles.md");
const SUMMARY: &str = include_str!("prompt/summary.md");

/// Where the agent works.
#[derive(Debug, Clone, Default)]
pub struct Place {
    pub workspace: String,
    /// As the user would write it, for example `2026-03-01`.
    pub date: String,
    /// What the files of a trusted workspace tell every model, by path.
    pub memory: BTreeMap<String, String>,
    /// Nothing may be changed.
    pub plan_only: bool,
    /// What earlier tasks bring into the turn; empty where nothing.
    pub brought: String,
}

pub fn request(
    model: &str,
    place: &Place,
    declarations: &[Declaration],
    contents: Vec<Content>,
) -> GenerateContentRequest {
    let functions = declarations.iter().map(declare).collect();
    let tool = Tool { function_declarations: functions, ..Tool::default() };
    let thinking = ThinkingConfig { include_thoughts: Some(true), ..ThinkingConfig::default() };
    let config = GenerationConfig { thinking_config: Some(thinking), ..GenerationConfig::default() };
    GenerateContentRequest {
        model: model.to_owned(),
        contents,
        system_instruction: Some(system(place)),
        tools: if declarations.is_empty() { Vec::new() } else { vec![tool] },
        generation_config: Some(config),
        ..GenerateContentRequest::default()
    }
}

/// Asks for a summary of what was said so far.
pub fn summarize(model: &str, mut contents: Vec<Content>) -> GenerateContentRequest {
    contents.push(text(USER, SUMMARY));
    GenerateContentRequest { model: model.to_owned(), contents, ..GenerateContentRequest::default() }
}

/// What a model hears that goes in circles.
pub fn circles() -> Content {
    text(USER, CIRCLES)
}

fn declare(declaration: &Declaration) -> FunctionDeclaration {
    FunctionDeclaration {
        name: declaration.name.clone(),
        description: declaration.description.clone(),
        parameters_json_schema: declaration.parameters.to_string(),
        ..FunctionDeclaration::default()
    }
}

fn system(place: &Place) -> Content {
    let mut words = WHO.to_owned();
    let _ = write!(
        words,
        "\n# Where you work\n\nToday is {}. The system is {}.",
        place.date,
        std::env::consts::OS
    );
    if !place.workspace.is_empty() {
        let _ = write!(words, " The workspace is {}; all files lie below it.", place.workspace);
    }
    words.push('\n');
    if place.plan_only {
        words.push_str("\nYou are planning: read and search, then propose. Nothing may be changed or run.\n");
    }
    if !place.brought.is_empty() {
        let _ = write!(words, "\n# Earlier work\n\n{}\n", place.brought);
    }
    for (path, memory) in &place.memory {
        let _ = write!(words, "\n<memory path=\"{path}\">\n{}\n</memory>\n", memory.trim_end());
    }
    Content { role: String::new(), parts: vec![Part { data: Some(Data::Text(words)), ..Part::default() }] }
}
