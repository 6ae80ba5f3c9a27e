use super::*;
use crate::proto::task::{ToolAnswered, TurnStarted};

fn said(id: &str) -> Event {
    let parts = vec![MessagePart::text(id)];
    Event::Message(Box::new(Message {
        message_id: id.to_owned(),
        role: Role::User.into(),
        parts,
        ..Message::default()
    }))
}

fn turn(ids: &[&str]) -> Event {
    Event::Turn(TurnStarted {
        message_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        ..TurnStarted::default()
    })
}

/// An answer with calls of these ids.
fn answer(words: &str, calls: &[&str]) -> Event {
    let mut content = text(MODEL, words);
    content.parts.extend(calls.iter().map(|id| {
        let call = FunctionCall { id: (*id).to_owned(), name: "ls".to_owned(), args: "{}".to_owned() };
        Part { data: Some(Data::FunctionCall(call)), ..Part::default() }
    }));
    Event::Answer(content)
}

/// The call of this number was answered.
fn answered(tool_call_id: &str) -> Event {
    let id = tool_call_id.trim_start_matches("-call-").to_owned();
    let response = FunctionResponse { id, ..FunctionResponse::default() };
    let parts = vec![Part { data: Some(Data::FunctionResponse(response)), ..Part::default() }];
    Event::ToolAnswer(ToolAnswered { tool_call_id: tool_call_id.to_owned(), parts })
}

fn conversation(events: Vec<Event>) -> Conversation {
    let mut conversation = Conversation::default();
    for (sequence, event) in (1..).zip(events) {
        conversation.fold(&TaskEvent { sequence, time: None, event: Some(event) });
    }
    conversation
}

/// `user: a | model: b (1) | user: =1`.
fn shape(contents: &[Content]) -> String {
    let part = |part: &Part| match &part.data {
        Some(Data::Text(text)) => text.clone(),
        Some(Data::FunctionCall(call)) => format!("({})", call.id),
        Some(Data::FunctionResponse(answer)) if answer.response.contains("Cancelled") => {
            format!("lost {}", answer.id)
        }
        Some(Data::FunctionResponse(answer)) => format!("={}", answer.id),
        _ => "?".to_owned(),
    };
    let content =
        |c: &Content| format!("{}: {}", c.role, c.parts.iter().map(part).collect::<Vec<_>>().join(" "));
    contents.iter().map(content).collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_conversation_is_what_a_model_can_read() {
    for (events, expected) in [
        (vec![said("a"), turn(&["a"]), answer("b", &[])], "user: a | model: b"),
        // Answers come together, in the order of the calls.
        (
            vec![said("a"), turn(&["a"]), answer("b", &["1", "2"]), answered("-call-2"), answered("-call-1")],
            "user: a | model: b (1) (2) | user: =1 =2",
        ),
        // What is said in the middle of a turn waits for the next.
        (
            vec![
                said("a"),
                turn(&["a"]),
                answer("b", &["1"]),
                said("c"),
                answered("-call-1"),
                answer("d", &[]),
                turn(&["c"]),
            ],
            "user: a | model: b (1) | user: =1 | model: d | user: c",
        ),
        // A call without an answer is never left open.
        (
            vec![
                said("a"),
                turn(&["a"]),
                answer("b", &["1", "2"]),
                answered("-call-1"),
                said("c"),
                turn(&["c"]),
            ],
            "user: a | model: b (1) (2) | user: =1 lost 2 | user: c",
        ),
        (vec![said("a"), turn(&["a"]), answer("b", &["1"])], "user: a | model: b (1) | user: lost 1"),
        (vec![said("a"), turn(&["a"]), said("b"), turn(&["b"])], "user: a b"),
    ] {
        assert_eq!(shape(&conversation(events).contents()), expected);
    }
}

#[test]
fn calls_have_ids_that_no_other_has() {
    let calls = |events| {
        let conversation: Conversation = conversation(events);
        conversation.open_calls().iter().map(|named| named.tool_call_id.clone()).collect::<Vec<_>>()
    };
    let created = || {
        let task_id = "t".to_owned();
        Event::Created(Box::new(crate::proto::task::Created { task_id, ..Default::default() }))
    };
    assert_eq!(calls(vec![created(), answer("", &["x", "x", ""])]), ["t-call-1", "t-call-2", "t-call-3"]);
    let twice = vec![created(), answer("", &["x"]), answered("t-call-1"), answer("", &["x"])];
    assert_eq!(calls(twice), ["t-call-2"]);
}

#[test]
fn decisions_are_not_for_the_model() {
    let decision: crate::proto::wkt::Value =
        serde_json::from_str(r#"{"tool_call_id": "1", "selected_option_id": "cancel"}"#).unwrap();
    let part = MessagePart { content: Some(Said::Data(decision)), ..MessagePart::default() };
    let message = Message { parts: vec![part, MessagePart::text("and hurry")], ..Message::default() };
    assert_eq!(parts(&message).len(), 1);
}
