//! Which calls of one answer are looked at and started next. Pure; the turn asks it after every change.
//!
//! The model meant its calls to happen in their order, so nothing overtakes what may change the world:
//!
//! | call | is looked at, and asked for | starts |
//! | --- | --- | --- |
//! | reads | together with its neighbours, up to the next edit | when everything before it that changes something has ended |
//! | changes something | the same | when everything before it has ended |
//! | edits | when everything before it has ended, because its diff depends on that | at once |

use super::call::State;

/// What a call does to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Reads,
    Changes,
    Edits,
}

/// Where a call stands, as far as this matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    New,
    /// Being looked at, or waiting for an answer.
    Held,
    Ready,
    Running,
    Ended,
}

/// What to do with the call at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Plan(usize),
    Start(usize),
}

/// As many at once as a machine can bear.
const TOGETHER: usize = 8;

pub fn next(calls: &[(Class, Phase)]) -> Vec<Act> {
    let running = calls.iter().filter(|(_, phase)| *phase == Phase::Running).count();
    let mut room = TOGETHER.saturating_sub(running);
    let mut acts = Vec::new();
    for (index, (class, phase)) in calls.iter().enumerate() {
        let before = &calls[..index];
        match phase {
            Phase::New if may_be_planned(*class, before) => acts.push(Act::Plan(index)),
            Phase::Ready if room > 0 && may_start(*class, before) => {
                room -= 1;
                acts.push(Act::Start(index));
            }
            _ => {}
        }
    }
    acts
}

fn may_be_planned(class: Class, before: &[(Class, Phase)]) -> bool {
    match class {
        Class::Edits => before.iter().all(ended),
        Class::Reads | Class::Changes => before.iter().filter(|(c, _)| *c == Class::Edits).all(ended),
    }
}

fn may_start(class: Class, before: &[(Class, Phase)]) -> bool {
    match class {
        Class::Reads => before.iter().filter(|(c, _)| *c != Class::Reads).all(ended),
        Class::Changes | Class::Edits => before.iter().all(ended),
    }
}

fn ended((_, phase): &(Class, Phase)) -> bool {
    *phase == Phase::Ended
}

impl Phase {
    /// `planning` says that somebody looks at the call right now, which its state does not tell.
    pub fn of(state: &State, planning: bool) -> Self {
        match state {
            State::Validating if planning => Self::Held,
            State::Validating => Self::New,
            State::AwaitingApproval { .. } => Self::Held,
            State::Scheduled { .. } => Self::Ready,
            State::Executing { .. } => Self::Running,
            State::Ended(_) => Self::Ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `r`ead, `c`hange or `e`dit, each followed by its phase: `.` new, `?` held, `!` ready, `*` running, `x` ended.
    fn acts(calls: &str) -> String {
        let class = |c| match c {
            'r' => Class::Reads,
            'c' => Class::Changes,
            _ => Class::Edits,
        };
        let phase = |c| match c {
            '.' => Phase::New,
            '?' => Phase::Held,
            '!' => Phase::Ready,
            '*' => Phase::Running,
            _ => Phase::Ended,
        };
        let letters: Vec<char> = calls.chars().filter(|c| *c != ' ').collect();
        let calls: Vec<_> = letters.chunks(2).map(|pair| (class(pair[0]), phase(pair[1]))).collect();
        let word = |act: &Act| match act {
            Act::Plan(n) => format!("plan {n}"),
            Act::Start(n) => format!("start {n}"),
        };
        next(&calls).iter().map(word).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn calls_keep_their_order_where_it_matters() {
        for (calls, expected) in [
            ("r. r. c. r.", "plan 0, plan 1, plan 2, plan 3"),
            ("r! r! c! r!", "start 0, start 1"),
            ("rx rx c! r!", "start 2"),
            ("rx rx c* r!", ""),
            ("rx rx cx r!", "start 3"),
            ("c? c!", ""),
            ("cx c!", "start 1"),
            ("e. r. e.", "plan 0"),
            ("r* e. r.", ""),
            ("rx ex r. e.", "plan 2"),
            ("rx ex rx e.", "plan 3"),
            ("r! r? r!", "start 0, start 2"),
            (
                "r! r! r! r! r! r! r! r! r! r!",
                &(0..8).map(|n| format!("start {n}")).collect::<Vec<_>>().join(", "),
            ),
        ] {
            assert_eq!(acts(calls), expected, "{calls}");
        }
    }

    #[test]
    fn whatever_is_decided_the_rest_goes_on() {
        // With everything ended before it and nothing held, the first call that is left always gets on.
        for calls in ["c!", "e!", "r!", "c.", "e.", "r.", "cx e.", "ex c!", "cx cx r!"] {
            assert!(!acts(calls).is_empty(), "{calls}");
        }
    }
}
