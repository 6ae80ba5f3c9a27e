//! Asking a client that does not know the extension, in plain text, and reading its plain answer. What is not exactly
//! one of the answers that were named is a refusal, and its text the reason: nothing is guessed. Must not know tasks
//! or wires; the service asks it.
//!
//! | the answer, without blanks around it, in any case | means |
//! | --- | --- |
//! | the id of an option | that option |
//! | its number, possibly with a `.` or `)` behind | that option |
//! | `yes`, `no`, `always`, possibly with a `.` or `!` behind | the first option that allows once, rejects, allows always |
//! | anything else | no, and the model sees the text |
//!
//! Where the agent asks questions of its own, the text is the answer (a line for each question; a number stands for a
//! choice), and only an option's id or nothing at all declines.

use std::fmt::Write;

use super::place::is_unseen;
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{ConfirmationOption, ConfirmationOptionKind, ConfirmationRequest, Question};

/// What a plain answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The id of an option that was offered.
    Selected(String),
    /// None of them. The text, for the model.
    Rejected { reason: String },
    /// To the questions, in their order.
    Answered(Vec<String>),
}

const WORDS: &[(&str, ConfirmationOptionKind)] = &[
    ("yes", ConfirmationOptionKind::AllowOnce),
    ("no", ConfirmationOptionKind::RejectOnce),
    ("always", ConfirmationOptionKind::AllowAlways),
];

/// Reads a plain answer to a request.
pub fn read(request: &ConfirmationRequest, text: &str) -> Answer {
    let text = text.trim();
    let questions = questions(request);
    if !questions.is_empty() {
        return read_answers(request, questions, text);
    }
    let options = &request.options;
    let found = by_id(options, text).or_else(|| by_number(options, text)).or_else(|| by_word(options, text));
    found.map_or_else(|| rejected(text), |option| Answer::Selected(option.id.clone()))
}

fn rejected(text: &str) -> Answer {
    Answer::Rejected { reason: text.to_owned() }
}

fn by_id<'a>(options: &'a [ConfirmationOption], text: &str) -> Option<&'a ConfirmationOption> {
    options.iter().find(|option| option.id.eq_ignore_ascii_case(text))
}

fn by_number<'a>(options: &'a [ConfirmationOption], text: &str) -> Option<&'a ConfirmationOption> {
    let number = text.strip_suffix(['.', ')']).unwrap_or(text);
    options.iter().enumerate().find(|(index, _)| (index + 1).to_string() == number).map(|(_, option)| option)
}

fn by_word<'a>(options: &'a [ConfirmationOption], text: &str) -> Option<&'a ConfirmationOption> {
    let word = text.strip_suffix(['.', '!']).unwrap_or(text);
    let (_, kind) = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word))?;
    options.iter().find(|option| option.kind() == *kind)
}

fn questions(request: &ConfirmationRequest) -> &[Question] {
    match &request.details {
        Some(Details::GenericDetails(generic)) => &generic.questions,
        _ => &[],
    }
}

/// `proceed_once` alone would send no answers, so it is none.
fn read_answers(request: &ConfirmationRequest, questions: &[Question], text: &str) -> Answer {
    match by_id(&request.options, text) {
        Some(option) if option.kind() == ConfirmationOptionKind::RejectOnce => {
            return Answer::Selected(option.id.clone());
        }
        Some(_) => return rejected(text),
        None => {}
    }
    let lines: Vec<&str> = match questions.len() {
        1 => Some(text).into_iter().filter(|text| !text.is_empty()).collect(),
        _ => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
    };
    match lines.len() == questions.len() {
        true => Answer::Answered(questions.iter().zip(lines).map(|(q, line)| choice(q, line)).collect()),
        false => rejected(text),
    }
}

/// A number is the choice with that number, if there is one.
fn choice(question: &Question, line: &str) -> String {
    let number = line.strip_suffix(['.', ')']).unwrap_or(line);
    let named = question.choices.iter().enumerate().find(|(index, _)| (index + 1).to_string() == number);
    named.map_or_else(|| line.to_owned(), |(_, choice)| choice.label.clone())
}

/// So much of what the agent says of a call is shown.
const SAID: usize = 200;

/// The question as text: what would happen, what the agent says of it, then what can be answered. What the agent
/// wrote stands on one line or set off, so that it cannot pass for the question.
pub fn question(description: &str, request: &ConfirmationRequest) -> String {
    let mut text = String::new();
    let questions = questions(request);
    if let Some(details) = &request.details {
        add(&mut text, &shown(details));
    }
    add(&mut text, &said(description, request.details.as_ref()));
    if !questions.is_empty() {
        add(&mut text, HOW_TO_ANSWER);
        return text.trim_end().to_owned();
    }
    for (index, option) in request.options.iter().enumerate() {
        let what = option.description.as_deref().unwrap_or_default();
        let _ = writeln!(text, "{}. {} ({}): {what}", index + 1, option.name, option.id);
    }
    text.push('\n');
    add(&mut text, &how_to_choose(&request.options));
    text.trim_end().to_owned()
}

const HOW_TO_ANSWER: &str = "Answer with text, or with the number of a choice; a line for each question. \
    `cancel` declines to answer.";

fn how_to_choose(options: &[ConfirmationOption]) -> String {
    let offered = |kind| options.iter().any(|option| option.kind() == kind);
    let words: Vec<&str> = WORDS.iter().filter(|(_, kind)| offered(*kind)).map(|(word, _)| *word).collect();
    format!(
        "Answer with a number, an id, or {}. Anything else means no, and the agent is told what you wrote.",
        words.join(" / ")
    )
}

fn add(text: &mut String, paragraph: &str) {
    let paragraph = paragraph.trim_end();
    if !paragraph.is_empty() {
        let _ = writeln!(text, "{paragraph}\n");
    }
}

/// What the agent says of a call, where that is more than what is shown already.
fn said(description: &str, details: Option<&Details>) -> String {
    let known = match details {
        Some(Details::ExecuteDetails(execute)) => description == format!("Run `{}`", execute.command),
        Some(Details::FileEditDetails(_) | Details::GenericDetails(_)) => true,
        // The whole of it: the arguments stand nowhere else.
        Some(Details::McpDetails(_)) | None => false,
    };
    if let Some(Details::McpDetails(_)) = details {
        return indented(&seen(description));
    }
    let line = one_line(description);
    if known || line.is_empty() {
        return String::new();
    }
    let cut = line.char_indices().nth(SAID).map(|(end, _)| format!("{}...", &line[..end]));
    format!("The agent says: \"{}\"", cut.unwrap_or(line))
}

/// Without line ends, and without what is not seen.
fn one_line(text: &str) -> String {
    let seen = |c: char| if is_unseen(c) || is_line_end(c) { ' ' } else { c };
    text.chars().map(seen).collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is not seen is written out.
fn seen(text: &str) -> String {
    let shown = |c: char| match is_unseen(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(shown).collect()
}

fn is_line_end(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn shown(details: &Details) -> String {
    match details {
        Details::ExecuteDetails(execute) => {
            let place = execute
                .working_directory
                .as_ref()
                .map(|d| format!("\nin {}", one_line(d)))
                .unwrap_or_default();
            format!("Run this command{place}:\n\n{}", indented(&execute.command))
        }
        Details::FileEditDetails(diff) => {
            let verb = if diff.old_content.is_some() { "Change" } else { "Create" };
            let what = diff.formatted_diff.as_deref().unwrap_or(&diff.new_content);
            format!("{verb} {}:\n\n{}", one_line(&diff.file_path), indented(what))
        }
        Details::McpDetails(mcp) => {
            let (tool, server) = (one_line(&mcp.tool_name), one_line(&mcp.server_name));
            format!("Call the tool {tool} of the server {server}:")
        }
        Details::GenericDetails(generic) => {
            let asked = generic.questions.iter().map(asked).collect::<String>();
            let (first, rest) = generic.description.split_once("\n\n").unwrap_or((&generic.description, ""));
            let more = indented(rest);
            let parts = [one_line(first), more, asked];
            let said: Vec<&str> =
                parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
            said.join("\n\n")
        }
    }
}

/// Set off, so that what is shown cannot pass for the question itself.
fn indented(text: &str) -> String {
    let ends = |c: char| c != '\t' && is_line_end(c);
    text.lines().flat_map(|line| line.split(ends)).map(|line| format!("    {line}\n")).collect()
}

fn asked(question: &Question) -> String {
    let mut text = format!("{}\n", question.question);
    for (index, choice) in question.choices.iter().enumerate() {
        let _ = writeln!(text, "  {}. {}: {}", index + 1, choice.label, choice.description);
    }
    text
}
