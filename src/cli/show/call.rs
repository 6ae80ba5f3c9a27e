//! One tool call: a line when it is first seen, and what came of it when it has ended.

use super::diff::diff;
use super::paint::{Ink, Paint};
use super::safe::{safe, safe_line};
use crate::proto::devtool::tool_call::Result as Outcome;
use crate::proto::devtool::tool_output::Result as Output;
use crate::proto::devtool::{ToolCall, ToolCallStatus, ToolOutput};
use crate::proto::wkt::{Kind, Struct, Value};

/// How much of what a tool gave is shown; the agent has all of it.
const LINES: usize = 8;
/// In characters.
const WIDE: usize = 160;

/// The name of the tool, and what the call is for.
pub fn head(paint: Paint, call: &ToolCall) -> String {
    let name = paint.ink(Ink::Bold, &safe_line(&call.tool_name));
    match call.description.as_deref().map(safe_line).filter(|words| !words.is_empty()) {
        Some(words) => format!("● {name}  {words}\n"),
        None => format!("● {name}\n"),
    }
}

/// What a call that runs is at, as far as it says so; nothing of one that does not run.
pub fn doing(call: &ToolCall) -> Option<String> {
    if call.status() != ToolCallStatus::Executing {
        return None;
    }
    let name = safe_line(&call.tool_name);
    let Some(progress) = &call.progress else { return Some(name) };
    let far = match progress.total {
        Some(total) => format!("{}/{total}", progress.done),
        None => progress.done.to_string(),
    };
    Some(format!("{name} {far} {}", cut(&safe_line(&progress.message))).trim_end().to_owned())
}

/// What was shown of a call before it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Before {
    /// What it printed.
    pub printed: bool,
    /// What it was going to do.
    pub asked: bool,
    /// That it had begun.
    pub began: bool,
}

/// How it ended, without what was shown before; nothing if it has not.
pub fn end(paint: Paint, call: &ToolCall, before: Before) -> String {
    let name = safe_line(&call.tool_name);
    match (call.status(), &call.result) {
        (ToolCallStatus::Succeeded, result) => {
            let output = match result {
                Some(Outcome::Output(output)) if !before.printed => given(paint, output, before.asked),
                _ => String::new(),
            };
            format!("{output}{}\n", paint.ink(Ink::Green, &format!("✓ {name}")))
        }
        (ToolCallStatus::Failed, result) => {
            let why = match result {
                Some(Outcome::Error(error)) => safe_line(&error.message),
                _ => "it failed".to_owned(),
            };
            format!("{}\n", paint.ink(Ink::Red, &format!("✗ {name}: {why}")))
        }
        (ToolCallStatus::Cancelled, _) => {
            let reason = call.decision.as_ref().and_then(|decision| decision.reject_reason.as_deref());
            let why = match (reason.map(safe_line), &call.decision) {
                (Some(reason), _) => format!("rejected: {reason}"),
                (None, Some(_)) if !before.began => "rejected".to_owned(),
                (None, _) => "cancelled".to_owned(),
            };
            format!("{}\n", paint.ink(Ink::Yellow, &format!("- {name}: {why}")))
        }
        _ => String::new(),
    }
}

fn given(paint: Paint, output: &ToolOutput, asked: bool) -> String {
    match &output.result {
        Some(Output::Text(text)) => aside(paint, &few(text)),
        Some(Output::Diff(edit)) if !asked => diff(paint, edit),
        Some(Output::Diff(edit)) => aside(paint, &format!("wrote {}", safe_line(&edit.file_path))),
        Some(Output::StructuredData(data)) => match todos(data).or_else(|| summary(paint, data)) {
            Some(text) => text,
            None => serde_json::to_string_pretty(data)
                .map_or_else(|_| String::new(), |json| aside(paint, &few(&json))),
        },
        None => String::new(),
    }
}

/// Lines beside the story, each marked as such.
pub fn aside(paint: Paint, text: &str) -> String {
    text.lines().map(|line| format!("{}\n", paint.ink(Ink::Dim, &format!("  │ {line}")))).collect()
}

fn few(text: &str) -> String {
    let text = safe(text.trim_end());
    let lines: Vec<&str> = text.lines().collect();
    let mut shown: Vec<String> = lines.iter().take(LINES).map(|line| cut(line)).collect();
    match lines.len().saturating_sub(LINES) {
        0 => {}
        1 => shown.extend(lines.last().map(|line| cut(line))),
        more => shown.push(format!("… {more} more lines")),
    }
    shown.join("\n")
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Some tools sum up what they give.
fn summary(paint: Paint, data: &Struct) -> Option<String> {
    match &data.fields.get("summary")?.kind {
        Some(Kind::String(summary)) => Some(aside(paint, &few(summary))),
        _ => None,
    }
}

/// A list of things to do, if that is what it is.
fn todos(data: &Struct) -> Option<String> {
    let Some(Kind::List(list)) = &data.fields.get("todos")?.kind else { return None };
    list.values.iter().map(todo).collect()
}

fn todo(value: &Value) -> Option<String> {
    let Some(Kind::Struct(entry)) = &value.kind else { return None };
    let text = |name: &str| match &entry.fields.get(name)?.kind {
        Some(Kind::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let mark = match text("status")? {
        "completed" => "x",
        "in_progress" => ">",
        "cancelled" => "-",
        "blocked" => "!",
        _ => " ",
    };
    Some(format!("  [{mark}] {}\n", safe_line(text("description")?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::Progress;

    #[test]
    fn a_call_that_runs_says_how_far_it_is() {
        let call = |status: ToolCallStatus, progress| ToolCall {
            tool_name: "build".to_owned(),
            status: status.into(),
            progress,
            ..ToolCall::default()
        };
        let progress = |total| Some(Progress { message: "linking\u{1b}".to_owned(), done: 3, total });
        for (call, expected) in [
            (call(ToolCallStatus::Pending, progress(None)), None),
            (call(ToolCallStatus::Executing, None), Some("build")),
            (call(ToolCallStatus::Executing, progress(Some(4))), Some("build 3/4 linking␛")),
            (call(ToolCallStatus::Executing, progress(None)), Some("build 3 linking␛")),
        ] {
            assert_eq!(doing(&call).as_deref(), expected);
        }
    }

    #[test]
    fn only_the_beginning_of_what_a_tool_gave_is_shown() {
        let lines = |count: usize| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        assert_eq!(few(&lines(9)), lines(9));
        assert_eq!(few(&lines(20)), format!("{}\n… 12 more lines", lines(8)));
        assert_eq!(few(&"x".repeat(WIDE + 1)), format!("{}…", "x".repeat(WIDE)));
    }
}
