use proptest::prelude::*;

use super::*;
use crate::proto::task::TextDelta;

const STATES: [TaskState; 8] = [
    TaskState::Submitted,
    TaskState::Working,
    TaskState::InputRequired,
    TaskState::AuthRequired,
    TaskState::Completed,
    TaskState::Failed,
    TaskState::Canceled,
    TaskState::Rejected,
];

fn state(to: TaskState) -> Event {
    Event::State(Box::new(StateChanged { state: to.into(), ..StateChanged::default() }))
}

fn events() -> Vec<Event> {
    let mut all = vec![
        Event::Created(Box::default()),
        Event::Message(Box::default()),
        Event::Text(TextDelta::default()),
    ];
    all.extend(STATES.map(state));
    all.push(state(TaskState::Unspecified));
    all
}

/// Every cell of the table: what happens to a task in each state. `-` is a refusal.
#[test]
fn every_state_and_event_has_its_answer() {
    let names = |s: TaskState| format!("{s:?}");
    let table = [
        // created, message, text, submitted, working, input, auth, completed, failed, canceled, rejected, unspecified
        (TaskState::Unspecified, "Submitted - - - - - - - - - - -"),
        (
            TaskState::Submitted,
            "- Submitted - - Working InputRequired AuthRequired Completed Failed Canceled Rejected -",
        ),
        (
            TaskState::Working,
            "- Working Working - - InputRequired AuthRequired Completed Failed Canceled Rejected -",
        ),
        (
            TaskState::InputRequired,
            "- InputRequired - - Working InputRequired AuthRequired Completed Failed Canceled Rejected -",
        ),
        (
            TaskState::AuthRequired,
            "- AuthRequired - - Working InputRequired AuthRequired Completed Failed Canceled Rejected -",
        ),
        (TaskState::Completed, "- - - - - - - - - - - -"),
        (TaskState::Failed, "- - - - - - - - - - - -"),
        (TaskState::Canceled, "- - - - - - - - - - - -"),
        (TaskState::Rejected, "- - - - - - - - - - - -"),
    ];
    for (from, expected) in table {
        let answers = events().into_iter().map(|event| {
            let mut machine = Machine::at(1, from);
            machine.apply(event, Timestamp::default()).map_or("-".to_owned(), |_| names(machine.state()))
        });
        assert_eq!(answers.collect::<Vec<_>>().join(" "), expected, "{from:?}");
    }
}

proptest! {
    #[test]
    fn sequences_have_no_gap_and_terminal_states_absorb(choices in prop::collection::vec(0..12_usize, 1..60)) {
        let mut machine = Machine::new();
        let mut stored = Vec::new();
        for choice in choices {
            let before = machine;
            match machine.apply(events().swap_remove(choice), Timestamp::default()) {
                Ok(event) => stored.push(event),
                Err(_) => prop_assert_eq!(machine, before, "a refusal changes nothing"),
            }
            prop_assert!(!before.state().is_terminal() || machine == before);
        }
        for (index, event) in stored.iter().enumerate() {
            prop_assert_eq!(event.sequence, index as u64 + 1);
        }
        // Living it and replaying it come to the same.
        let mut replayed = Machine::new();
        for event in stored {
            replayed.apply(event.event.unwrap(), Timestamp::default()).unwrap();
        }
        prop_assert_eq!(replayed, machine);
    }
}
