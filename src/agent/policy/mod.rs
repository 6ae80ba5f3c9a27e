//! Whether a call may happen: at once, after asking, or not at all. Pure: no disk, no clock, nothing remembered. The
//! scheduler calls [`decide`] with what the tool has planned and what holds in the context, shows
//! [`options::offered`], and keeps what [`rule::grants`] says the answer means. Must not know tools, tasks or wires.
//!
//! The first line that applies decides:
//!
//! | | what | verdict |
//! | --- | --- | --- |
//! | 1 | a rule of the operator denies it, or any part of a command | deny |
//! | 2 | the answer is what the tool is for (`always_asks`) | ask, in every mode |
//! | 3 | plan mode, and it does not only read | deny, and the model is told what to do instead |
//! | 4 | a rule of the operator asks for it or for a part of it, or one that asks or denies may be meant | ask, in every mode |
//! | 5 | yolo | allow |
//! | 6 | it only reads, and is no tool of an MCP server | allow |
//! | 7 | rules allow it: the operator's, or what the user always allows; of a command every part | allow |
//! | 8 | auto_edit, and it writes a file of the workspace that is not sensitive | allow |
//! | 9 | anything else | ask |
//!
//! So of two rules of the operator the stricter one wins, whatever their order. "May be meant": a command that is
//! not understood, whose words are known only when it runs, or that runs what its arguments say, while a rule about
//! commands asks or denies; and a search of a directory that files of a rule about paths could lie in (`secrets/**` for
//! a search of the whole workspace, not for one of `src`). A path is judged where symlinks lead, and as it was called.
//! A rule about `x/**` that asks or denies is about the directory `x` too. An allowing rule that names no path does not reach sensitive files, and one that names no
//! command does not reach the shell: for the shell nothing is allowed until somebody has named it.

pub mod answer;
pub mod options;
pub mod place;
pub mod rule;
pub mod shell;
mod subject;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use place::Place;
pub use rule::{AlwaysRule, BadRule, Decision, Rule, RuleSpec};
pub use subject::{About, Subject};

use crate::proto::devtool::ApprovalMode;
use rule::Match;
use shell::{Parsed, Simple, programs};

const PLAN_REASON: &str = "Plan mode: nothing may be changed or sent out now. Read and search as needed, then \
    describe step by step what you would do and why; the user can leave plan mode to have it done.";

/// How much is done without asking, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Mode {
    /// Nothing is changed.
    Plan,
    #[default]
    Default,
    /// Plain files of the workspace are changed without asking.
    AutoEdit,
    Yolo,
}

/// What holds in a context.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub mode: Mode,
    /// The operator's.
    pub rules: Arc<[Rule]>,
    /// What the user has allowed for the rest of the context.
    pub always: BTreeSet<AlwaysRule>,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Verdict {
    Allow,
    #[default]
    Ask,
    Deny {
        /// For the model.
        reason: String,
    },
}

impl Mode {
    /// None where the client leaves it to the server.
    pub fn from_proto(mode: ApprovalMode) -> Option<Self> {
        match mode {
            ApprovalMode::Unspecified => None,
            ApprovalMode::Default => Some(Self::Default),
            ApprovalMode::AutoEdit => Some(Self::AutoEdit),
            ApprovalMode::Yolo => Some(Self::Yolo),
            ApprovalMode::Plan => Some(Self::Plan),
        }
    }
}

impl From<Mode> for ApprovalMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Plan => Self::Plan,
            Mode::Default => Self::Default,
            Mode::AutoEdit => Self::AutoEdit,
            Mode::Yolo => Self::Yolo,
        }
    }
}

type Step = fn(&Subject, &Policy) -> Option<Verdict>;

/// The table above, line by line.
const STEPS: [Step; 8] = [
    operator_denies,
    answer_is_the_point,
    planning_changes_nothing,
    operator_asks,
    yolo,
    reading_is_free,
    rules_allow,
    edits_are_free,
];

/// What becomes of a call.
pub fn decide(subject: &Subject, policy: &Policy) -> Verdict {
    STEPS.iter().find_map(|step| step(subject, policy)).unwrap_or_default()
}

fn operator_denies(subject: &Subject, policy: &Policy) -> Option<Verdict> {
    let rule = policy.with(Decision::Deny).find(|rule| rule.touches(subject) == Match::Yes)?;
    Some(Verdict::Deny { reason: rule.reason() })
}

fn answer_is_the_point(subject: &Subject, _: &Policy) -> Option<Verdict> {
    subject.always_asks.then_some(Verdict::Ask)
}

fn planning_changes_nothing(subject: &Subject, policy: &Policy) -> Option<Verdict> {
    (policy.mode == Mode::Plan && !subject.only_reads())
        .then(|| Verdict::Deny { reason: PLAN_REASON.to_owned() })
}

fn operator_asks(subject: &Subject, policy: &Policy) -> Option<Verdict> {
    let asked = policy.with(Decision::Ask).any(|rule| rule.touches(subject) != Match::No);
    let doubtful = policy.with(Decision::Deny).any(|rule| rule.touches(subject) == Match::Maybe);
    (asked || doubtful || policy.may_hide(subject)).then_some(Verdict::Ask)
}

fn yolo(_: &Subject, policy: &Policy) -> Option<Verdict> {
    (policy.mode == Mode::Yolo).then_some(Verdict::Allow)
}

fn reading_is_free(subject: &Subject, _: &Policy) -> Option<Verdict> {
    subject.is_free_to_read().then_some(Verdict::Allow)
}

fn rules_allow(subject: &Subject, policy: &Policy) -> Option<Verdict> {
    let allowed = match &subject.about {
        About::Command(Parsed::NotUnderstood { .. }) => false,
        About::Command(Parsed::Understood(parts)) => {
            parts.iter().all(|part| policy.operator_allows(subject, part) || policy.remembers(part))
        }
        _ => {
            policy.with(Decision::Allow).any(|rule| rule.allows(subject))
                || rule::cover(&policy.always, subject)
        }
    };
    allowed.then_some(Verdict::Allow)
}

fn edits_are_free(subject: &Subject, policy: &Policy) -> Option<Verdict> {
    (policy.mode == Mode::AutoEdit && rule::covers(&AlwaysRule::Edits, subject)).then_some(Verdict::Allow)
}

impl Policy {
    fn with(&self, decision: Decision) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.decision() == decision)
    }

    fn operator_allows(&self, subject: &Subject, part: &Simple) -> bool {
        self.with(Decision::Allow).any(|rule| rule.allows_part(subject, part))
    }

    fn remembers(&self, part: &Simple) -> bool {
        self.always.iter().any(|rule| rule::covers_part(rule, part))
    }

    /// A part runs what its arguments say while commands are forbidden or asked for, and nobody has allowed it by
    /// its own name.
    fn may_hide(&self, subject: &Subject) -> bool {
        let About::Command(Parsed::Understood(parts)) = &subject.about else { return false };
        let strict = self.rules.iter().any(|rule| rule.restricts_commands_of(subject));
        strict && parts.iter().any(|part| programs::hides(part) && !self.operator_allows(subject, part))
    }
}
