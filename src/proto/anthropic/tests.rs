use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::proto::vendor::{decode, encode};

fn print<T: Serialize + prost::Name>(message: &T) -> String {
    let mut out = Vec::new();
    encode(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn again<T: Serialize + DeserializeOwned + prost::Name>(text: &str) -> String {
    print(&decode::<T>(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {} {}", e.field, e.problem)))
}

#[test]
fn requests_are_printed_as_they_were_read() {
    for text in [
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":0,"stream":true}"#,
        r#"{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"metadata":{"user_id":"u"}}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]},"title":"t","citations":{"enabled":true}}]}]}"#,
        r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"1","name":"f","input":{"n":12345678901234567890123}},{"type":"brand_new","x":[1,2]}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"},{"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"b"},{"type":"tool_reference","tool_name":"f"}],"is_error":true},{"type":"tool_result","tool_use_id":"3"}]}]}"#,
        r#"{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"1","content":[{"type":"web_search_result","url":"u"}]}]}]}"#,
        r#"{"tools":[{"name":"f","input_schema":{"type":"object"},"new":1},{"type":"web_search_20250305","name":"web_search","max_uses":5}],"tool_choice":{"type":"tool","name":"f"},"thinking":{"type":"enabled","budget_tokens":1024},"output_config":{"effort":"high","format":{"type":"json_schema","schema":{}}}}"#,
    ] {
        assert_eq!(again::<CreateMessageRequest>(text), text);
    }
}

#[test]
fn events_are_printed_as_they_were_read() {
    for text in [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location"}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"later","x":1}"#,
    ] {
        assert_eq!(again::<MessageStreamEvent>(text), text);
    }
}

#[test]
fn the_type_may_stand_anywhere_but_is_printed_first() {
    let (read, printed) =
        (r#"{"text":"a","new":1.50,"type":"text"}"#, r#"{"type":"text","text":"a","new":1.50}"#);
    assert_eq!(again::<Block>(read), printed);
    assert_eq!(again::<Block>(r#"{"x":1,"type":"new"}"#), r#"{"type":"new","x":1}"#);
}

#[test]
fn errors_name_the_way_to_what_is_wrong() {
    for (text, path, problem) in [
        (r#"{"messages":[{"content":5}]}"#, "messages[0].content", "a string or a list of blocks"),
        (r#"{"messages":[{"content":["a"]}]}"#, "messages[0].content[0]", "a block of content"),
        (r#"{"messages":[{"content":[{"text":"a"}]}]}"#, "messages[0].content[0]", "missing field `type`"),
        (
            r#"{"messages":[{"content":[{"type":"text","text":"a"},{"type":"image","source":{"data":5}}]}]}"#,
            "messages[0].content[1].source.data",
            "expected a string",
        ),
        (
            r#"{"messages":[{"content":[{"source":{"data":5},"type":"image"}]}]}"#,
            "messages[0].content[0]",
            "expected a string",
        ),
        (r#"{"max_tokens":"x"}"#, "max_tokens", "a number"),
    ] {
        let error = decode::<CreateMessageRequest>(text.as_bytes()).unwrap_err();
        assert!(
            error.field.starts_with(path) && error.problem.contains(problem),
            "{text}: {}: {}",
            error.field,
            error.problem
        );
    }
}

#[test]
fn what_nests_deep_is_refused_and_does_no_harm() {
    let deep = |open: &str, close: &str| {
        format!(r#"{{"messages":[{{"content":{}{}}}]}}"#, open.repeat(50_000), close.repeat(50_000))
    };
    for text in [
        deep(r#"[{"type":"tool_result","content":"#, "}]"),
        deep(r#"[{"content":"#, r#","type":"tool_result"}]"#),
    ] {
        let _ = decode::<CreateMessageRequest>(text.as_bytes());
    }
}

/// Any JSON whose members are told apart, and often mean something.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        prop::sample::select(vec!["text", "image", "tool_result", "base64", "a\nb"]).prop_map(Into::into),
    ];
    let names = prop::sample::select(vec![
        "messages",
        "content",
        "type",
        "text",
        "source",
        "data",
        "input",
        "name",
        "tools",
        "system",
        "thinking",
        "delta",
        "index",
        "citations",
        "x",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let members = prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner.clone(), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Into::into),
            members.prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn stays<T: Serialize + DeserializeOwned + prost::Name>(text: &str) -> Result<(), TestCaseError> {
    if let Ok(message) = decode::<T>(text.as_bytes()) {
        let printed = print(&message);
        prop_assert_eq!(&again::<T>(&printed), &printed);
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_was_read_once_stays_as_it_is(value in json()) {
        let text = value.to_string();
        stays::<CreateMessageRequest>(&text)?;
        stays::<Block>(&text)?;
        stays::<Delta>(&text)?;
        stays::<MessageStreamEvent>(&text)?;
    }
}
