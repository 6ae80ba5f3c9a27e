//! What a client can choose from when it is asked. An "always" is offered only where it would help: with what it
//! grants, the same call would not be asked for again. Must not know how a choice is sent; the scheduler puts it into
//! the request.

use super::rule::{self, AlwaysRule};
use super::shell::Parsed;
use super::subject::{About, Subject};
use super::{Policy, Verdict, decide};
use crate::domain::tool::Kind;
use crate::proto::devtool::{ConfirmationOption, ConfirmationOptionKind};

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    ProceedOnce,
    ProceedAlways,
    ProceedAlwaysTool,
    ProceedAlwaysServer,
    Cancel,
}

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    Exec,
    Edit,
    Mcp,
    Info,
    AskUser,
    Generic,
}

const IDS: [(Choice, &str, ConfirmationOptionKind); 5] = [
    (Choice::ProceedOnce, "proceed_once", ConfirmationOptionKind::AllowOnce),
    (Choice::ProceedAlways, "proceed_always", ConfirmationOptionKind::AllowAlways),
    (Choice::ProceedAlwaysTool, "proceed_always_tool", ConfirmationOptionKind::AllowAlways),
    (Choice::ProceedAlwaysServer, "proceed_always_server", ConfirmationOptionKind::AllowAlways),
    (Choice::Cancel, "cancel", ConfirmationOptionKind::RejectOnce),
];

impl Choice {
    pub fn from_id(id: &str) -> Option<Self> {
        IDS.iter().find(|(_, known, _)| *known == id).map(|(choice, ..)| *choice)
    }

    pub fn id(self) -> &'static str {
        self.entry().1
    }

    pub fn kind(self) -> ConfirmationOptionKind {
        self.entry().2
    }

    fn entry(self) -> &'static (Self, &'static str, ConfirmationOptionKind) {
        IDS.iter().find(|(choice, ..)| *choice == self).unwrap_or(&IDS[4])
    }
}

impl Shape {
    pub fn of(subject: &Subject) -> Self {
        match (&subject.server, &subject.about) {
            (Some(_), _) => Self::Mcp,
            (_, About::Command(_)) => Self::Exec,
            (_, About::Edit(_)) => Self::Edit,
            (_, About::Questions) => Self::AskUser,
            (_, About::Hosts(_)) => Self::Info,
            _ if subject.kind == Kind::Fetch => Self::Info,
            _ => Self::Generic,
        }
    }

    fn choices(self) -> &'static [Choice] {
        use Choice::{Cancel, ProceedAlways, ProceedAlwaysServer, ProceedAlwaysTool, ProceedOnce};
        match self {
            Self::Exec | Self::Edit | Self::Info => &[ProceedOnce, ProceedAlways, Cancel],
            Self::Mcp => &[ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, Cancel],
            Self::AskUser | Self::Generic => &[ProceedOnce, Cancel],
        }
    }
}

/// What is offered for a call, in the order in which to show it.
pub fn offered(subject: &Subject, policy: &Policy) -> Vec<ConfirmationOption> {
    let shape = Shape::of(subject);
    let choices = shape.choices().iter().copied();
    choices
        .filter(|choice| helps(*choice, subject, policy))
        .map(|choice| option(shape, choice, subject))
        .collect()
}

fn helps(choice: Choice, subject: &Subject, policy: &Policy) -> bool {
    if choice.kind() != ConfirmationOptionKind::AllowAlways {
        return true;
    }
    let Some(granted) = rule::grants(subject, choice.id()) else { return false };
    let mut later = policy.clone();
    later.always.extend(granted);
    decide(subject, &later) == Verdict::Allow
}

fn option(shape: Shape, choice: Choice, subject: &Subject) -> ConfirmationOption {
    let (name, description) = words(shape, choice, subject);
    ConfirmationOption {
        id: choice.id().to_owned(),
        name,
        description: Some(description.to_owned()),
        kind: choice.kind().into(),
    }
}

fn words(shape: Shape, choice: Choice, subject: &Subject) -> (String, &'static str) {
    let fixed = |name: &str, description| (name.to_owned(), description);
    match (shape, choice) {
        (Shape::AskUser, Choice::ProceedOnce) => {
            fixed("Send the answers", "The agent goes on with these answers.")
        }
        (Shape::AskUser, Choice::Cancel) => {
            fixed("Do not answer", "The agent goes on without answers, and is told so.")
        }
        (_, Choice::ProceedOnce) => fixed("Allow once", "Do exactly what is shown, this time."),
        (Shape::Exec, Choice::ProceedAlways) => (
            format!("Always allow {}", roots(subject)),
            "Do it, and do not ask for these commands again in this conversation, whatever their arguments.",
        ),
        (Shape::Info, Choice::ProceedAlways) => (
            format!("Always allow {}", hosts(subject)),
            "Do it, and do not ask for these hosts again in this conversation.",
        ),
        (_, Choice::ProceedAlways) => fixed(
            "Always allow edits",
            "Do it, and do not ask for edits of files in the workspace again in this conversation. Sensitive files are still asked for.",
        ),
        (_, Choice::ProceedAlwaysTool) => {
            fixed("Always allow this tool", "Do it, and do not ask for this tool again in this conversation.")
        }
        (_, Choice::ProceedAlwaysServer) => (
            format!("Always allow {}", subject.server.as_deref().unwrap_or_default()),
            "Do it, and do not ask for any tool of this server again in this conversation.",
        ),
        (_, Choice::Cancel) => fixed("Reject", "Do not do it. A reason, if given, is shown to the agent."),
    }
}

fn roots(subject: &Subject) -> String {
    let granted = rule::grants(subject, Choice::ProceedAlways.id()).unwrap_or_default();
    let named = granted.into_iter().filter_map(|rule| match rule {
        AlwaysRule::Command { root } => Some(format!("`{root}`")),
        _ => None,
    });
    named.collect::<Vec<_>>().join(", ")
}

fn hosts(subject: &Subject) -> String {
    match &subject.about {
        About::Hosts(hosts) => hosts.join(", "),
        _ => String::new(),
    }
}

/// Why a command is asked for though it may look allowed; nothing to say about others.
pub fn remark(subject: &Subject) -> Option<String> {
    match &subject.about {
        About::Command(Parsed::NotUnderstood { why }) => Some(format!("Always asked for, because {why}.")),
        _ => None,
    }
}
