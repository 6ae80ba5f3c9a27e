//! Whatever the hub's conversation is, what is sent keeps the rules of chat completions.

use agena::model::openai::{Server, Wanted, convert};
use agena::proto::gemini::{Content, FunctionCall, FunctionDeclaration, FunctionResponse};
use agena::proto::gemini::{GenerateContentRequest, Part, Tool, part::Data};
use agena::proto::openai::{ChatCompletionRequest, Message};
use agena::proto::vendor;
use proptest::prelude::*;

/// Few names and ids, so that they meet.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["f", "g", ""]).prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> {
    let ids = vec!["", "a", "b", "call_0", "call_1", "an-id-that-is-longer-than-forty-characters-are"];
    prop::sample::select(ids).prop_map(str::to_owned)
}

fn piece() -> impl Strategy<Value = Part> {
    let call = (id(), name())
        .prop_map(|(id, name)| Data::FunctionCall(FunctionCall { id, name, args: String::new() }));
    let answer = (id(), name()).prop_map(|(id, name)| {
        let response = r#"{"output":"done"}"#.to_owned();
        Data::FunctionResponse(FunctionResponse { id, name, response, ..FunctionResponse::default() })
    });
    let data =
        prop_oneof![Just(Data::Text("text".to_owned())), Just(Data::Text(String::new())), call, answer];
    (data, any::<bool>())
        .prop_map(|(data, thought)| Part { thought: thought && is_text(&data), ..Part::of(data) })
}

fn is_text(data: &Data) -> bool {
    matches!(data, Data::Text(_))
}

fn conversation() -> impl Strategy<Value = Vec<Content>> {
    let role = prop::sample::select(vec!["user", "model", "model", ""]).prop_map(str::to_owned);
    let turn = (role, prop::collection::vec(piece(), 0..4)).prop_map(|(role, parts)| Content { role, parts });
    prop::collection::vec(turn, 0..8)
}

fn calls(contents: &[Content], of: fn(&Data) -> bool) -> usize {
    contents
        .iter()
        .flat_map(|content| &content.parts)
        .filter_map(|part| part.data.as_ref())
        .filter(|data| of(data))
        .count()
}

/// Behind a message with calls stand their answers, in the same order, and nowhere else.
fn answered(messages: &[Message]) -> Result<(), TestCaseError> {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message.role == "tool" {
            prop_assert!(!open.is_empty(), "{messages:?}");
            prop_assert_eq!(&message.tool_call_id, &open.remove(0));
            continue;
        }
        prop_assert!(open.is_empty(), "{messages:?}");
        open = message.tool_calls.iter().map(|call| call.id.clone()).collect();
        let mut ids = open.clone();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), open.len(), "{:?}", messages);
        prop_assert!(message.content.is_some() || !open.is_empty());
        prop_assert!(open.iter().all(|id| !id.is_empty() && id.len() <= 40));
    }
    prop_assert!(open.is_empty(), "{messages:?}");
    Ok(())
}

proptest! {
    #[test]
    fn every_call_is_answered_right_behind_it(contents in conversation()) {
        let of_model: Vec<Content> = contents.iter().filter(|content| content.role == "model").cloned().collect();
        let called = calls(&of_model, |data| matches!(data, Data::FunctionCall(_)));
        let request = GenerateContentRequest { contents, ..GenerateContentRequest::default() };
        let converted = convert(request.clone(), Server::Compatible, Wanted::Streamed).request;
        answered(&converted.messages)?;
        let sent: usize = converted.messages.iter().map(|message| message.tool_calls.len()).sum();
        prop_assert_eq!(sent, called, "no call is lost");
        prop_assert_eq!(convert(request, Server::Compatible, Wanted::Streamed).request, converted, "always the same");
    }

    #[test]
    fn any_schema_can_be_sent(schema in schema()) {
        let function = FunctionDeclaration { name: "f".to_owned(), parameters: format!("{{\"items\": {schema}}}"), ..FunctionDeclaration::default() };
        let tools = vec![Tool { function_declarations: vec![function], ..Tool::default() }];
        let request = GenerateContentRequest { tools, ..GenerateContentRequest::default() };
        let converted = convert(request, Server::Compatible, Wanted::Whole).request;
        let mut out = Vec::new();
        vendor::encode(&converted, &mut out).unwrap();
        prop_assert_eq!(vendor::decode::<ChatCompletionRequest>(&out).unwrap(), converted);
    }
}

/// JSON, and often members that mean something in a schema.
fn schema() -> impl Strategy<Value = String> {
    let leaves =
        ["null", "true", "5", "\"5\"", "\"STRING\"", "\"]\"", "\"a\\\"b\"", "\"enum\"", "[]", "{}", "1e400"];
    let names =
        ["type", "nullable", "enum", "anyOf", "items", "properties", "minItems", "format", "a\\\"b", "x"];
    let leaf = prop::sample::select(leaves.to_vec()).prop_map(str::to_owned);
    leaf.prop_recursive(4, 30, 4, move |inner| {
        let member = (prop::sample::select(names.to_vec()), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::btree_map(member.0, member.1, 0..5).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}
