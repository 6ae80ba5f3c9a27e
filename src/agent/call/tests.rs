//! The machine against what it promises, over every cell and over random lives.

use proptest::prelude::*;

use super::*;
use crate::proto::devtool::{FileDiff, GenericDetails, ModifiedFileDetails, ToolCallStatus, ToolOutput};

fn option(id: &str, kind: ConfirmationOptionKind) -> ConfirmationOption {
    ConfirmationOption { id: id.to_owned(), kind: kind.into(), ..ConfirmationOption::default() }
}

fn options() -> Vec<ConfirmationOption> {
    vec![
        option("proceed_once", ConfirmationOptionKind::AllowOnce),
        option("proceed_always", ConfirmationOptionKind::AllowAlways),
        option("cancel", ConfirmationOptionKind::RejectOnce),
        option("strange", ConfirmationOptionKind::Unspecified),
    ]
}

fn plan(details: Details) -> Plan {
    Plan { description: "does something".to_owned(), details, always_asks: false, paths: vec![] }
}

fn edit() -> Plan {
    plan(Details::FileEditDetails(FileDiff { new_content: "proposed".to_owned(), ..FileDiff::default() }))
}

fn outcome() -> Outcome {
    Outcome { told: "done".to_owned(), media: vec![], shown: ToolOutput::default() }
}

fn answer(option: &str) -> ToolCallConfirmation {
    ToolCallConfirmation { selected_option_id: option.to_owned(), ..ToolCallConfirmation::default() }
}

fn decide(confirmation: ToolCallConfirmation) -> Input {
    Input::Decide(Answer { confirmation, by: "ann".to_owned(), message_id: "m".to_owned() })
}

fn modified() -> ToolCallConfirmation {
    let file = ModifiedFileDetails { new_content: "mine".to_owned() };
    ToolCallConfirmation {
        modified_details: Some(ModifiedDetails::FileDetails(file)),
        ..answer("proceed_once")
    }
}

fn printed(skipped: u64) -> Input {
    Input::Printed(Piece { skipped, text: "p".to_owned() })
}

fn new() -> Calling {
    let call = Call { id: "c".to_owned(), tool: "write_file".to_owned(), arguments: Default::default() };
    Calling::new(call, "m".to_owned())
}

fn lived(inputs: Vec<Input>) -> Calling {
    let mut calling = new();
    for input in inputs {
        calling.apply(input).unwrap();
    }
    calling
}

fn word(calling: &Calling) -> &'static str {
    match calling.state() {
        State::Validating => "validating",
        State::AwaitingApproval { .. } => "awaiting",
        State::Scheduled { .. } => "scheduled",
        State::Executing { stopping: false, .. } => "executing",
        State::Executing { stopping: true, .. } => "stopping",
        State::Ended(End::Succeeded) => "succeeded",
        State::Ended(End::Failed) => "failed",
        State::Ended(End::Cancelled) => "cancelled",
    }
}

/// Every input, in the order of the columns below.
fn inputs() -> Vec<Input> {
    vec![
        Input::Free(edit()),
        Input::Asks(edit(), options()),
        Input::Refused(ToolError::new("x", "no")),
        decide(answer("proceed_once")),
        decide(answer("cancel")),
        Input::Cancel,
        Input::Start,
        printed(0),
        Input::Done(Ok(outcome())),
        Input::Done(Err(ToolError::Cancelled { so_far: String::new() })),
        Input::Recovered,
    ]
}

#[test]
fn every_cell_of_the_table_is_as_it_is_meant() {
    let asked = || vec![Input::Asks(edit(), options())];
    let free = || vec![Input::Free(edit())];
    let begun = |mut inputs: Vec<Input>, more: Vec<Input>| {
        inputs.extend(more);
        inputs
    };
    let x = "refused";
    for (life, cells) in [
        (vec![], ["scheduled", "awaiting", "failed", x, x, "cancelled", x, x, x, x, "validating"]),
        (asked(), [x, x, x, "scheduled", "cancelled", "cancelled", x, x, x, x, "awaiting"]),
        (free(), [x, x, x, x, x, "cancelled", "executing", x, x, x, "scheduled"]),
        (
            begun(free(), vec![Input::Start]),
            [x, x, x, x, x, "stopping", x, "executing", "succeeded", "cancelled", "failed"],
        ),
        (
            begun(free(), vec![Input::Start, Input::Cancel]),
            [x, x, x, x, x, "stopping", x, "stopping", "succeeded", "cancelled", "failed"],
        ),
        (
            begun(free(), vec![Input::Start, Input::Done(Ok(outcome()))]),
            [x, x, x, x, x, x, x, x, x, x, "succeeded"],
        ),
    ] {
        for (input, expected) in inputs().into_iter().zip(cells) {
            let mut calling = lived(life.clone());
            let before = calling.clone();
            let told = format!("{} and {input:?}", word(&calling));
            match calling.apply(input) {
                Ok(_) => assert_eq!(word(&calling), expected, "{told}"),
                Err(_) => assert_eq!((expected, calling), (x, before), "{told}"),
            }
        }
    }
}

#[test]
fn an_answer_must_fit_what_was_asked() {
    let stale = ToolCallConfirmation { fingerprint: Some("other".to_owned()), ..answer("proceed_once") };
    let reject_with_content = ToolCallConfirmation { selected_option_id: "cancel".to_owned(), ..modified() };
    let generic = plan(Details::GenericDetails(GenericDetails::default()));
    for (plan, confirmation, refusal) in [
        (edit(), answer("nonsense"), "there is no such option"),
        (edit(), stale, "what was shown is not what"),
        (edit(), reject_with_content, "only the content of a file"),
        (generic, modified(), "only the content of a file"),
    ] {
        let mut calling = lived(vec![Input::Asks(plan, options())]);
        let refused = calling.apply(decide(confirmation)).unwrap_err();
        assert!(refused.to_string().starts_with(refusal), "{refused}");
        assert_eq!(word(&calling), "awaiting");
    }
    let mut decided = lived(vec![Input::Asks(edit(), options()), decide(answer("proceed_once"))]);
    let late = decided.apply(decide(answer("cancel"))).unwrap_err();
    assert_eq!(late.to_string(), "this call was decided already: proceed_once by ann");
}

#[test]
fn what_was_approved_is_what_runs() {
    for (confirmation, content, remembers) in [
        (answer("proceed_once"), "proposed", false),
        (answer("proceed_always"), "proposed", true),
        (modified(), "mine", false),
    ] {
        let mut calling = lived(vec![Input::Asks(edit(), options())]);
        let step = calling.apply(decide(confirmation)).unwrap();
        assert_eq!(matches!(step.effect, Some(Effect::Remember { .. })), remembers);
        let Some(Effect::Run(approval)) = calling.apply(Input::Start).unwrap().effect else { panic!() };
        let Some(Details::FileEditDetails(diff)) = approval.details else { panic!() };
        assert_eq!((diff.new_content.as_str(), approval.modified), (content, content == "mine"));
    }
}

#[test]
fn an_option_of_no_known_kind_does_not_allow() {
    let mut calling = lived(vec![Input::Asks(edit(), options())]);
    calling.apply(decide(answer("strange"))).unwrap();
    assert_eq!(word(&calling), "cancelled");
}

fn any_input() -> impl Strategy<Value = Input> {
    let answers = ["proceed_once", "proceed_always", "cancel", "strange", "nonsense"];
    prop_oneof![
        prop::sample::select(inputs()),
        prop::sample::select(answers.map(|id| decide(answer(id))).to_vec()),
        Just(decide(modified())),
        (0..1_000_u64).prop_map(printed),
    ]
}

/// What the journal can know: a call that was free and had not begun is looked at again.
fn durable(mut calling: Calling) -> Calling {
    calling.state = match calling.state {
        State::Scheduled { decision: None, .. } => State::Validating,
        State::Executing { decision, .. } => State::Executing { decision, stopping: false },
        state => state,
    };
    calling
}

fn rank(status: ToolCallStatus) -> u8 {
    match status {
        ToolCallStatus::StatusUnspecified | ToolCallStatus::Pending => 0,
        ToolCallStatus::Executing => 1,
        ToolCallStatus::Succeeded | ToolCallStatus::Failed | ToolCallStatus::Cancelled => 2,
    }
}

proptest! {
    #[test]
    fn no_life_breaks_a_promise(inputs in prop::collection::vec(any_input(), 0..20)) {
        let (mut calling, mut replayed) = (new(), new());
        let mut printed = 0;
        let (mut starts, mut may_start, mut ended, mut answers, mut last) = (0, false, None, 0, 0);
        for input in inputs {
            let permits = match &input {
                Input::Free(_) => true,
                Input::Decide(a) => ["proceed_once", "proceed_always"].contains(&a.confirmation.selected_option_id.as_str()),
                _ => false,
            };
            let more = if let Input::Printed(piece) = &input { piece.skipped + 1 } else { 0 };
            let Ok(step) = calling.apply(input) else { continue };
            printed += more;
            prop_assert_eq!(calling.printed, printed, "every byte counts, told or not");
            may_start |= permits;
            for event in &step.events {
                replayed.fold(event);
                if let Event::ToolCall(call) = event {
                    prop_assert!(rank(call.status()) >= last, "the status went backwards");
                    last = rank(call.status());
                }
                answers += usize::from(matches!(event, Event::ToolAnswer(_)));
            }
            if let Some(Effect::Run(_)) = step.effect {
                starts += 1;
                prop_assert!(may_start, "started without approval");
                prop_assert!(ended.is_none(), "started after its end");
            }
            prop_assert!(ended.is_none_or(|end| calling.state == State::Ended(end)), "left its end");
            if let State::Ended(end) = calling.state {
                ended = Some(end);
            }
            prop_assert_eq!(durable(replayed.clone()), durable(calling.clone()));
        }
        prop_assert!(starts <= 1);
        prop_assert_eq!(answers, usize::from(ended.is_some()), "the model hears of each call once");
    }
}
