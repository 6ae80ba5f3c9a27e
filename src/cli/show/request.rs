//! What a tool call asks before it starts: exactly what would happen, and what can be answered.

use std::fmt::Write;

use super::diff::diff;
use super::paint::{Ink, Paint};
use super::safe::{safe, safe_line};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{ConfirmationRequest, Question, ToolCall};

/// What would happen, whole: what is not shown here is not agreed to.
pub fn details(paint: Paint, call: &ToolCall) -> String {
    match call.confirmation_request.as_ref().and_then(|request| request.details.as_ref()) {
        Some(Details::ExecuteDetails(shell)) => {
            let place = match &shell.working_directory {
                Some(directory) => paint.ink(Ink::Dim, &format!("  in {}\n", safe_line(directory))),
                None => String::new(),
            };
            format!("{place}{}", indented("  $ ", "    ", &paint.ink(Ink::Bold, &safe(&shell.command))))
        }
        Some(Details::FileEditDetails(edit)) => {
            format!("  {}\n{}", paint.ink(Ink::Bold, &safe_line(&edit.file_path)), diff(paint, edit))
        }
        Some(Details::McpDetails(mcp)) => {
            let tool = format!(
                "  {} of the MCP server {}\n",
                safe_line(&mcp.tool_name),
                safe_line(&mcp.server_name)
            );
            format!("{}{}", paint.ink(Ink::Bold, &tool), arguments(call))
        }
        Some(Details::GenericDetails(generic)) if !generic.questions.is_empty() => String::new(),
        Some(Details::GenericDetails(generic)) => {
            format!("{}{}", indented("  ", "  ", &safe(&generic.description)), arguments(call))
        }
        None => arguments(call),
    }
}

/// The questions of a call that asks instead of acting.
pub fn questions(call: &ToolCall) -> &[Question] {
    match call.confirmation_request.as_ref().and_then(|request| request.details.as_ref()) {
        Some(Details::GenericDetails(generic)) => &generic.questions,
        _ => &[],
    }
}

/// One question with its choices, numbered.
pub fn question(paint: Paint, question: &Question) -> String {
    let mut text = format!("  {}\n", paint.ink(Ink::Bold, &safe_line(&question.question)));
    for (at, choice) in question.choices.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "    {}  {}", at + 1, safe_line(&choice.label));
        if !choice.description.is_empty() {
            text.push_str(&paint.ink(Ink::Dim, &format!("  {}", safe_line(&choice.description))));
        }
        text.push('\n');
    }
    text
}

/// What can be answered: number, letter, name and what it means.
pub fn options(paint: Paint, request: &ConfirmationRequest, letters: &[Option<char>]) -> String {
    let names: Vec<String> = request.options.iter().map(|option| safe_line(&option.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (at, (option, name)) in request.options.iter().zip(&names).enumerate() {
        let letter = letters.get(at).copied().flatten().unwrap_or(' ');
        let _ = write!(text, "  {} {letter}  {name:<width$}", at + 1);
        if let Some(description) = &option.description {
            text.push_str(&paint.ink(Ink::Dim, &format!("  {}", safe_line(description))));
        }
        text.push('\n');
    }
    text
}

fn arguments(call: &ToolCall) -> String {
    let Some(given) = &call.input_parameters else { return String::new() };
    match serde_json::to_string_pretty(given) {
        Ok(json) => indented("  ", "  ", &safe(&json)),
        Err(_) => String::new(),
    }
}

fn indented(first: &str, rest: &str, text: &str) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| format!("{}{line}\n", if at == 0 { first } else { rest })).collect()
}
