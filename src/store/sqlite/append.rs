//! What a commit becomes before it is written: checked and encoded, so that the writer's thread need not.
//! Pure; the store calls it where the caller runs.

use super::row;
use super::rows::millis;
use crate::domain::grant::AlwaysRule;
use crate::domain::store::{Commit, Push, SendKey, StoreError};
use crate::proto::a2a::TaskState;
use crate::proto::task::Created;
use crate::proto::task::task_event::Event;

/// A commit that is in order, as far as it can tell by itself.
#[derive(Debug)]
pub struct Append {
    pub task_id: String,
    pub first: u64,
    pub last: u64,
    /// As `row` writes them.
    pub events: Vec<u8>,
    pub state: TaskState,
    pub change: Change,
    pub send: Option<Sent>,
    pub grants: Vec<AlwaysRule>,
    pub push: Option<Push>,
}

#[derive(Debug)]
pub enum Change {
    New { context: String, tenant: String, updated: i64 },
    State { updated: i64 },
    Events,
}

#[derive(Debug)]
pub struct Sent {
    pub hash: [u8; 32],
    pub at: i64,
    /// An older one is forgotten.
    pub since: i64,
}

impl Append {
    pub fn new(commit: Commit) -> Result<Self, StoreError> {
        let wrong = |what: &str| StoreError::Failed(format!("a commit of task {} {what}", commit.task_id));
        let Some(first) = commit.events.first() else { return Err(wrong("has no events")) };
        let (mut last, first) = (first.sequence.saturating_sub(1), first.sequence);
        for event in commit.events.iter() {
            last += 1;
            if event.sequence != last || last == 0 {
                return Err(wrong("does not count its events one by one"));
            }
        }
        let created = commit.events.first().and_then(|event| match &event.event {
            Some(Event::Created(created)) => Some(created),
            _ => None,
        });
        let change = match (first, created, commit.updated.map(millis)) {
            (1, Some(created), Some(updated)) if created.task_id == commit.task_id => new(created, updated),
            (1, ..) => return Err(wrong("does not begin with its creation, its id and its time")),
            (_, Some(_), _) => return Err(wrong("creates it a second time")),
            (_, None, Some(updated)) => Change::State { updated },
            (_, None, None) => Change::Events,
        };
        let (task_id, state, send) = (commit.task_id, commit.state, commit.send.as_ref().and_then(sent));
        // Of a new task the message is the last event, of an old one the first.
        let said = if matches!(change, Change::New { .. }) { last } else { first };
        let push = commit.push.map(|push| along(push, &task_id, said));
        let (grants, events) = (commit.grants, row::encode(&commit.events));
        Ok(Self { task_id, first, last, events, state, change, send, grants, push })
    }
}

fn new(created: &Created, updated: i64) -> Change {
    Change::New { context: created.context_id.clone(), tenant: created.tenant.clone(), updated }
}

/// None if it is not to be recognised.
pub fn sent(key: &SendKey) -> Option<Sent> {
    let at = millis(key.at);
    let window = i64::try_from(key.window.as_millis()).unwrap_or(i64::MAX);
    (window > 0).then(|| Sent { hash: key.hash, at, since: at.saturating_sub(window) })
}

/// Whoever sends it does not know yet which task it belongs to and where that stands.
fn along(mut push: Push, task_id: &str, said: u64) -> Push {
    task_id.clone_into(&mut push.config.task_id);
    Push { delivered: said, ..push }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::proto::task::{TaskEvent, TextDelta};

    fn event(sequence: u64, event: Event) -> TaskEvent {
        TaskEvent { sequence, time: None, event: Some(event) }
    }

    fn created(sequence: u64) -> TaskEvent {
        event(sequence, Event::Created(Box::new(Created { task_id: "t".to_owned(), ..Created::default() })))
    }

    fn text(sequence: u64) -> TaskEvent {
        event(sequence, Event::Text(TextDelta::default()))
    }

    fn commit(events: Vec<TaskEvent>) -> Commit {
        Commit {
            task_id: "t".to_owned(),
            events: events.into(),
            state: TaskState::Working,
            updated: Some(UNIX_EPOCH + Duration::from_millis(7)),
            send: None,
            grants: vec![],
            push: None,
        }
    }

    #[test]
    fn a_commit_knows_what_it_changes() {
        let new = Append::new(commit(vec![created(1), text(2)])).unwrap();
        assert_eq!((new.first, new.last), (1, 2));
        assert!(matches!(new.change, Change::New { updated: 7, .. }));
        let later = Append::new(commit(vec![text(8), text(9)])).unwrap();
        assert_eq!((later.first, later.last), (8, 9));
        assert!(matches!(later.change, Change::State { updated: 7 }));
        let only = Append::new(Commit { updated: None, ..commit(vec![text(8)]) }).unwrap();
        assert!(matches!(only.change, Change::Events));
    }

    #[test]
    fn what_is_out_of_order_is_refused_with_the_task_and_the_reason() {
        let other = Commit { task_id: "other".to_owned(), ..commit(vec![created(1)]) };
        let timeless = Commit { updated: None, ..commit(vec![created(1)]) };
        let count = "does not count its events one by one";
        let begin = "does not begin with its creation, its id and its time";
        for (commit, reason) in [
            (commit(vec![]), "has no events"),
            (commit(vec![text(0)]), count),
            (commit(vec![text(3), text(5)]), count),
            (commit(vec![text(3), text(3)]), count),
            (commit(vec![text(1)]), begin),
            (other, begin),
            (timeless, begin),
            (commit(vec![created(2)]), "creates it a second time"),
        ] {
            let expected = format!("the store failed: a commit of task {} {reason}", commit.task_id);
            assert_eq!(Append::new(commit).unwrap_err().to_string(), expected);
        }
    }
}
