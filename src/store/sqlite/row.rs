//! What a row of the journal holds: the events of one commit, as a `TaskEvents`. The pieces of an answer differ in little
//! but their text, and they are most of all events: one that goes on from the piece before it is stored without what both
//! share. Pure; commits are encoded with it and read back.

use prost::encoding::message;
use prost::{DecodeError, Message};

use crate::proto::task::task_event::Event;
use crate::proto::task::{TaskEvent, TaskEvents, TextDelta};

/// The number of `TaskEvents.events`.
const EVENTS: u32 = 1;
/// No event has it, so it says that the event goes on from the one before.
const GOES_ON: u64 = 0;
/// Few pieces are longer when they are stored.
const PIECE: usize = 32;

/// Of events that count one by one.
pub fn encode(events: &[TaskEvent]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(events.len() * PIECE);
    let mut before: Option<&TaskEvent> = None;
    // One for all of them, so that only the first makes memory.
    let mut short =
        TaskEvent { sequence: GOES_ON, time: None, event: Some(Event::Text(TextDelta::default())) };
    for event in events {
        match (before.and_then(|before| goes_on(before, event)), &mut short.event) {
            (Some(piece), Some(Event::Text(short_piece))) => {
                short_piece.text.clone_from(&piece.text);
                message::encode(EVENTS, &short, &mut encoded);
            }
            _ => message::encode(EVENTS, event, &mut encoded),
        }
        before = Some(event);
    }
    encoded
}

/// The piece of text, if it shares all else with the piece before.
fn goes_on<'a>(before: &TaskEvent, event: &'a TaskEvent) -> Option<&'a TextDelta> {
    let (Some(Event::Text(first)), Some(Event::Text(next))) = (&before.event, &event.event) else {
        return None;
    };
    let same = before.time == event.time
        && same(&first.message_id, &next.message_id)
        && same(first.model.as_bytes(), next.model.as_bytes());
    same.then_some(next)
}

/// Most have no model. Some processors take longer to compare nothing with nothing, at an address of nothing, than all of
/// the rest takes.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.is_empty() && other.is_empty() || one == other
}

pub fn decode(row: &[u8]) -> Result<Vec<TaskEvent>, DecodeError> {
    let mut events = TaskEvents::decode(row)?.events;
    for at in 1..events.len() {
        if let [.., before, event] = &mut events[..=at]
            && event.sequence == GOES_ON
        {
            event.sequence = before.sequence + 1;
            event.time = before.time;
            if let (Some(Event::Text(first)), Some(Event::Text(next))) = (&before.event, &mut event.event) {
                next.message_id.clone_from(&first.message_id);
                next.model.clone_from(&first.model);
            }
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::task::Created;
    use crate::proto::wkt::Timestamp;

    fn event(sequence: u64, seconds: i64, event: Event) -> TaskEvent {
        TaskEvent { sequence, time: Some(Timestamp { seconds, nanos: 5 }), event: Some(event) }
    }

    fn piece(sequence: u64, seconds: i64, message_id: &str, model: &str) -> TaskEvent {
        let text = format!("piece {sequence}");
        let (message_id, model) = (message_id.to_owned().into(), model.to_owned());
        event(sequence, seconds, Event::Text(TextDelta { text, model, message_id }))
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let created = Event::Created(Box::new(Created { task_id: "t".to_owned(), ..Created::default() }));
        let timeless = TaskEvent { time: None, ..piece(5, 0, "a", "m") };
        for events in [
            vec![],
            vec![piece(7, 1, "a", "m")],
            vec![event(1, 1, created), piece(2, 1, "a", "m"), piece(3, 1, "a", "m"), piece(4, 1, "a", "m")],
            vec![piece(2, 1, "a", "m"), piece(3, 2, "a", "m"), piece(4, 2, "b", "m"), piece(5, 2, "b", "n")],
            vec![piece(4, 0, "a", "m"), timeless, piece(6, 0, "", "m"), piece(7, 0, "", "")],
        ] {
            assert_eq!(decode(&encode(&events)), Ok(events));
        }
    }

    #[test]
    fn a_row_that_was_written_whole_is_read_too() {
        let events = vec![piece(2, 1, "a", "m"), piece(3, 1, "a", "m")];
        let whole = TaskEvents { events: events.clone() }.encode_to_vec();
        assert!(encode(&events).len() < whole.len());
        assert_eq!(decode(&whole), Ok(events));
    }
}
