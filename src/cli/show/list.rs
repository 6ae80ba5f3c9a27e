//! Tasks, rules and slash commands as lines of a list.

use std::fmt::Write;

use super::paint::{Ink, Paint};
use super::safe::safe_line;
use crate::proto::a2a::TaskState;
use crate::proto::devtool::{ConfirmationOptionKind, Rule, SlashCommand, TaskSummary};
use crate::proto::wkt::Timestamp;

/// A state in one word.
pub fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Unspecified => "unknown",
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "cancelled",
        TaskState::InputRequired => "asks",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "needs a login",
    }
}

fn ink(state: TaskState) -> Ink {
    match state {
        TaskState::Completed => Ink::Green,
        TaskState::Failed | TaskState::Rejected => Ink::Red,
        TaskState::InputRequired | TaskState::AuthRequired | TaskState::Canceled => Ink::Yellow,
        _ => Ink::Cyan,
    }
}

/// A task on one line: when it changed, how it stands, its id and what it is about.
pub fn task(paint: Paint, task: &TaskSummary) -> String {
    let word = format!("{:<13}", state(task.state()));
    let waits = match task.pending_confirmations {
        0 => String::new(),
        1 => " (1 call waits)".to_owned(),
        more => format!(" ({more} calls wait)"),
    };
    format!(
        "{}  {}  {}  {}{waits}\n",
        paint.ink(Ink::Dim, &time(task.update_time.as_ref())),
        paint.ink(ink(task.state()), &word),
        safe_line(&task.task_id),
        safe_line(&task.title),
    )
}

pub fn rule(paint: Paint, rule: &Rule) -> String {
    let means = match rule.kind() {
        ConfirmationOptionKind::AllowAlways => "always allowed",
        ConfirmationOptionKind::RejectAlways => "always refused",
        _ => "decided",
    };
    format!(
        "{}  {}  {means}: {}  {}\n",
        safe_line(&rule.rule_id),
        paint.ink(Ink::Dim, &time(rule.create_time.as_ref())),
        paint.ink(Ink::Bold, &safe_line(&rule.subject)),
        paint.ink(Ink::Dim, &format!("in {}", safe_line(&rule.context_id))),
    )
}

/// A command and those below it, each with what it takes.
pub fn command(paint: Paint, command: &SlashCommand) -> String {
    let mut text = String::new();
    below(paint, "/", command, &mut text);
    text
}

fn below(paint: Paint, prefix: &str, command: &SlashCommand, text: &mut String) {
    let path = format!("{prefix}{}", safe_line(&command.name));
    let mut usage = path.clone();
    for argument in &command.arguments {
        let name = safe_line(&argument.name).to_uppercase();
        usage.push_str(&if argument.is_required { format!(" {name}") } else { format!(" [{name}]") });
    }
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}  {}",
        paint.ink(Ink::Bold, &format!("{usage:<26}")),
        safe_line(&command.description)
    );
    command.sub_commands.iter().for_each(|sub| below(paint, &format!("{path} "), sub, text));
}

fn time(time: Option<&Timestamp>) -> String {
    let Some(time) = time else { return " ".repeat(20) };
    let nanos = u32::try_from(time.nanos).unwrap_or_default();
    let moment = chrono::DateTime::from_timestamp(time.seconds, nanos).unwrap_or_default();
    moment.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::SlashCommandArgument;

    #[test]
    fn a_task_is_one_line_whatever_its_title() {
        let summary = TaskSummary {
            task_id: "t1".to_owned(),
            title: "do\u{1b}[2J\nit".to_owned(),
            state: TaskState::InputRequired.into(),
            update_time: Some(Timestamp { seconds: 0, nanos: 0 }),
            pending_confirmations: 2,
            ..TaskSummary::default()
        };
        assert_eq!(
            task(Paint(false), &summary),
            "1970-01-01T00:00:00Z  asks           t1  do␛[2J it (2 calls wait)\n"
        );
    }

    #[test]
    fn a_command_shows_its_arguments_and_what_is_below_it() {
        let argument =
            SlashCommandArgument { name: "fact".to_owned(), is_required: true, ..Default::default() };
        let add = SlashCommand {
            name: "add".to_owned(),
            description: "Adds.".to_owned(),
            arguments: vec![argument],
            ..Default::default()
        };
        let memory = SlashCommand {
            name: "memory".to_owned(),
            description: "Shows.".to_owned(),
            sub_commands: vec![add],
            ..Default::default()
        };
        assert_eq!(
            command(Paint(false), &memory),
            "/memory                     Shows.\n/memory add FACT            Adds.\n"
        );
    }
}
