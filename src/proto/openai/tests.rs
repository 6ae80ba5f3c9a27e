//! The JSON of chat completions, there and back.

use std::fmt;

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
    print::<T>(&decode(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}")))
}

fn refused<T: DeserializeOwned + fmt::Debug>(text: &str) -> String {
    decode::<T>(text.as_bytes()).unwrap_err().to_string()
}

/// Read and printed as they are.
const REQUESTS: &[&str] = &[
    r#"{}"#,
    r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#,
    r#"{"messages":[{"role":"system","content":""},{"role":"user","content":[],"name":"ann"}]}"#,
    r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}},{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,AA==","filename":"a.pdf"}}]}]}"#,
    r#"{"messages":[{"role":"assistant","content":[{"type":"refusal","refusal":"no"}],"refusal":"no"}]}"#,
    r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890123}"}},{"id":"2","type":"custom","custom":{"name":"c","input":"x"}}]},{"role":"tool","content":"done","tool_call_id":"1"}]}"#,
    r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"a_b"}},"new":12345678901234567890123}]}]}"#,
    r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"video_url","video_url":{"url":"u"},"fps":5.50}]}]}"#,
    r#"{"messages":[{"role":"assistant","content":"a","reasoning_content":"b","audio":{"id":"x"},"extra_content":{"google":1},"new":[1e2]}]}"#,
    r#"{"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"z":{"maximum":12345678901234567890123},"a":{}}},"strict":false}},{"type":"custom","custom":{"name":"c","format":{"type":"text"}}},{"type":"web_search","filters":[]}]}"#,
    r#"{"tool_choice":"auto","parallel_tool_calls":false}"#,
    r#"{"tool_choice":{"type":"function","function":{"name":"f"}}}"#,
    r#"{"tool_choice":{"type":"custom","custom":{"name":"f"}}}"#,
    r#"{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}}"#,
    r#"{"tool_choice":{"type":"hosted","hosted":1}}"#,
    r#"{"tools":[{"type":"function","name":"f","parameters":{}},{"name":"g","input_schema":{}}],"tool_choice":{"type":"function","name":"f"}}"#,
    r#"{"extra_body":{"google":{"cached_content":"c"}},"google":{"thinking_config":{}}}"#,
    r#"{"response_format":{"type":"text"}}"#,
    r#"{"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object","maximum":1.0},"strict":true}}}"#,
    r#"{"temperature":0,"top_p":0.95,"max_tokens":0,"max_completion_tokens":5,"n":1,"stop":["x"],"seed":-9223372036854775808,"presence_penalty":-0.5,"frequency_penalty":2,"logprobs":false,"top_logprobs":0,"logit_bias":{"50256":-100}}"#,
    r#"{"functions":[{"name":"f","parameters":{}}],"function_call":{"name":"f"},"reasoning_effort":"low","verbosity":"low","modalities":["text"],"audio":{"voice":"v","format":"wav"},"web_search_options":{},"service_tier":"flex","prompt_cache_key":"k","prompt_cache_retention":"24h","prompt_cache_options":{},"user":"u","safety_identifier":"s","metadata":{"a":"b"},"store":false,"prediction":{"type":"content","content":"c"},"moderation":{},"top_k":40}"#,
];

#[test]
fn requests_are_printed_as_they_were_read() {
    for text in REQUESTS {
        assert_eq!(again::<ChatCompletionRequest>(text), *text);
    }
}

#[test]
fn answers_are_printed_as_they_were_read() {
    for text in [
        r#"{"id":"1","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":0,"completion_tokens":1,"total_tokens":1,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0},"queue_time":0.061},"service_tier":"default","system_fingerprint":"fp"}"#,
        r#"{"created":5,"choices":[{"index":1,"message":{"role":"assistant","content":"a","refusal":"no","reasoning":"t","annotations":[{"type":"url_citation"}]},"logprobs":{"content":[{"token":"a","logprob":-0.10}]},"finish_reason":null,"stop_reason":5}],"timings":{"predicted_per_second":41.50}}"#,
    ] {
        assert_eq!(again::<ChatCompletion>(text), text);
    }
}

#[test]
fn chunks_are_printed_as_they_were_read() {
    for text in [
        r#"{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}"#,
        r#"{"created":1,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}"#,
        r#"{"created":1,"choices":[{"index":0,"delta":{"images":[{"type":"image_url","image_url":{"url":"u"},"index":0}],"annotations":[{"type":"url_citation"}],"audio":{"id":"a"}},"logprobs":null,"finish_reason":null}]}"#,
        r#"{"created":1,"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#,
        r#"{"created":1,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]},"logprobs":null,"finish_reason":null}]}"#,
        r#"{"created":1,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"},"extra_content":{"google":{}}}]},"logprobs":null,"finish_reason":null}]}"#,
        r#"{"created":1,"choices":[{"index":0,"delta":{"reasoning_content":"","reasoning":"b","new":null},"logprobs":{"content":[]},"finish_reason":null,"new":0.50}],"obfuscation":"xyz"}"#,
    ] {
        assert_eq!(again::<ChatCompletionChunk>(text), text);
    }
}

#[test]
fn the_rest_is_printed_as_it_was_read() {
    for text in [
        r#"{"model":"m","input":"a","encoding_format":"base64","dimensions":5}"#,
        r#"{"input":["a","b"],"truncate":"END"}"#,
        r#"{"input":[1,2]}"#,
        r#"{"input":[[1,2],[3]]}"#,
        r#"{"input":[]}"#,
    ] {
        assert_eq!(again::<EmbeddingRequest>(text), text);
    }
    for text in [
        r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-2.0]}],"model":"m","usage":{"prompt_tokens":0,"total_tokens":0}}"#,
        r#"{"data":[{"index":1,"embedding":"AACAPw=="}]}"#,
        r#"{"data":[]}"#,
    ] {
        assert_eq!(again::<EmbeddingResponse>(text), text);
    }
    let models = r#"{"object":"list","data":[{"id":"m","object":"model","created":0,"owned_by":"vllm","max_model_len":4096,"meta":{"n_ctx_train":1},"root":"m"}]}"#;
    assert_eq!(again::<ModelList>(models), models);
    let error = r#"{"error":{"message":"m","type":"t","param":null,"code":null,"n_ctx":256}}"#;
    assert_eq!(again::<ErrorResponse>(error), error);
}

#[test]
fn what_is_written_in_several_ways_is_printed_in_one() {
    for (text, printed) in [
        (r#"{"stop":"x","tools":null,"stream":null,"seed":"5"}"#, r#"{"stop":["x"],"seed":5}"#),
        (r#"{"stop":null,"metadata":null,"logit_bias":null}"#, r#"{}"#),
        (
            r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"n":12345678901234567890123}},"id":null}]}]}"#,
            r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890123}"}}]}]}"#,
        ),
        (
            r#"{"messages":[{"content":[{"text":"a","image_url":null}],"role":"user"}]}"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#,
        ),
    ] {
        assert_eq!(again::<ChatCompletionRequest>(text), printed, "{text}");
    }
    for (text, printed) in [
        (
            r#"{"error":"model not found"}"#,
            r#"{"error":{"message":"model not found","type":"","param":null,"code":null}}"#,
        ),
        (r#"{"error":{"code":400}}"#, r#"{"error":{"message":"","type":"","param":null,"code":"400"}}"#),
        (r#"{"error":null,"detail":"x"}"#, r#"{"detail":"x"}"#),
    ] {
        assert_eq!(again::<ErrorResponse>(text), printed, "{text}");
    }
}

#[test]
fn errors_name_the_way_to_what_is_wrong() {
    for (text, path, problem) in [
        (
            r#"{"messages":[{},{"content":[{"type":"text"}]}]}"#,
            "messages[1].content[0]",
            "missing field `text`",
        ),
        (
            r#"{"messages":[{"content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":5}}]}]}"#,
            "messages[0].content[1].image_url.url: ",
            "expected a string",
        ),
        (r#"{"messages":[{"content":5}]}"#, "messages[0].content: ", "a string or a list of parts"),
        (r#"{"messages":[{"content":["a"]}]}"#, "messages[0].content[0]: ", "expected a part of a message"),
        (
            r#"{"messages":[{"content":[{"text":"a","refusal":"b"}]}]}"#,
            "messages[0].content[0]",
            "holds one thing",
        ),
        (
            r#"{"messages":[{"content":[{"type":"text","refusal":"b"}]}]}"#,
            "messages[0].content[0]",
            r#"is of type "text" and has "refusal""#,
        ),
        (
            r#"{"tools":[{"type":"function","function":{"name":[]}}]}"#,
            "tools[0].function.name: ",
            "expected a string",
        ),
        (r#"{"tool_choice":5}"#, "tool_choice: ", "a choice of tools"),
        (r#"{"stop":[1]}"#, "stop[0]: ", "expected a string"),
        (r#"{"stop":{}}"#, "stop: ", "a string or a list of strings"),
        (r#"{"n":1.5}"#, "n: ", "expected a number"),
        (r#"{"new":1,"new":2}"#, "", "stands twice"),
    ] {
        let said = refused::<ChatCompletionRequest>(text);
        assert!(said.starts_with(path) && said.contains(problem), "{text}: {said}");
    }
    for text in [r#"{"input":5}"#, r#"{"input":["a",1]}"#, r#"{"input":[1,"a"]}"#, r#"{"input":{}}"#] {
        let said = refused::<EmbeddingRequest>(text);
        assert!(said.starts_with("input: "), "{text}: {said}");
    }
}

#[test]
fn an_unknown_type_does_not_contradict_a_known_one() {
    let part = ContentPart {
        part: Some(content_part::Part::Text("a".into())),
        extra: r#"{"type":"b","text":"b","new":1}"#.into(),
    };
    assert_eq!(print(&part), r#"{"type":"text","text":"a","new":1}"#);
}

/// Any JSON, and often members that mean something.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i32>().prop_map(|n| n.to_string()),
        "[1-9][0-9]{20,30}",
        prop::sample::select(vec!["text", "function", "image_url", "a\nb"])
            .prop_map(|text| serde_json::to_string(text).unwrap()),
    ];
    let names = prop::sample::select(vec![
        "messages",
        "content",
        "type",
        "text",
        "image_url",
        "url",
        "function",
        "name",
        "arguments",
        "tool_calls",
        "id",
        "extra_content",
        "tools",
        "tool_choice",
        "stop",
        "choices",
        "delta",
        "usage",
        "error",
        "extra",
        "x",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let member = (names.clone(), inner.clone()).prop_map(|(name, value)| format!("{name:?}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(",\n"))),
        ]
    })
}

fn stays<T: Serialize + DeserializeOwned + prost::Name>(text: &str) -> Result<(), TestCaseError> {
    if let Ok(message) = decode::<T>(text.as_bytes()) {
        let printed = print(&message);
        prop_assert_eq!(&again::<T>(&printed), &printed);
        prop_assert!(!printed.contains('\n'));
    }
    Ok(())
}

#[test]
fn usage_that_counts_nothing_is_none() {
    for text in [r#"{"usage":{}}"#, r#"{"usage":null}"#, r#"{"usage":{"prompt_tokens":0}}"#, "{}"] {
        stays::<ChatCompletionChunk>(text).unwrap();
        assert_eq!(decode::<ChatCompletionChunk>(text.as_bytes()).unwrap().usage, None, "{text}");
    }
}

proptest! {
    #[test]
    fn what_was_read_once_stays_as_it_is(text in json()) {
        stays::<ChatCompletionRequest>(&text)?;
        stays::<ChatCompletionChunk>(&text)?;
        stays::<ContentPart>(&text)?;
        stays::<ToolCall>(&text)?;
        stays::<ErrorResponse>(&text)?;
    }
}
