//! The JSON of Gemini's REST API, there and back.

use proptest::prelude::*;
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::proto::task::task_event::Event;
use crate::proto::task::{TaskEvent, TaskEvents, ToolAnswered};
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
const SAME: &[&str] = &[
    r#"{}"#,
    r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
    r#"{"contents":[{"role":"model","parts":[{"text":""}]}]}"#,
    r#"{"contents":[{"role":"model","parts":[{"text":"a","thought":true,"thoughtSignature":"skip_thought_signature_validator"}]}]}"#,
    r#"{"contents":[{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"z":12345678901234567890123,"a":1.0,"m":[ 1e2 ]}}}]}]}"#,
    r#"{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}]}"#,
    r#"{"contents":[{"parts":[{"fileData":{"mimeType":"a/b","fileUri":"gs://x"},"videoMetadata":{"fps":5.50}}]}]}"#,
    r#"{"contents":[{"parts":[{"toolCall":{"toolType":"URL_CONTEXT","n":12345678901234567890123}}]},{"parts":[{}]}]}"#,
    r#"{"contents":[{"parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}]}]}"#,
    r#"{"systemInstruction":{"parts":[{"text":"be kind"}]},"cachedContent":"c","labels":{"a":"b"},"serviceTier":"flex","store":false}"#,
    r#"{"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object","properties":{"b":{},"a":{}}}}]},{"googleSearch":{}}]}"#,
    r#"{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]},"retrievalConfig":{"languageCode":"de"}}}"#,
    r#"{"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]}"#,
    r#"{"generationConfig":{"temperature":0,"topP":0.95,"topK":40,"candidateCount":1,"maxOutputTokens":0,"stopSequences":["x"],"seed":-9223372036854775808,"responseMimeType":"application/json","responseSchema":{"type":"STRING"},"thinkingConfig":{"includeThoughts":false,"thinkingBudget":-1},"speechConfig":{"a":1}}}"#,
];

#[test]
fn requests_are_printed_as_they_were_read() {
    for text in SAME {
        assert_eq!(again::<GenerateContentRequest>(text), *text);
    }
}

#[test]
fn answers_are_printed_as_they_were_read() {
    for text in [
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP","index":1,"safetyRatings":[{"probability":"LOW","score":0.10}],"citationMetadata":{"b":1,"a":2},"groundingMetadata":{"x":[]},"urlContextMetadata":{},"avgLogprobs":-0.12345678901234567890}],"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3,"promptTokensDetails":[{"modality":"TEXT","tokenCount":3}]},"modelVersion":"m","responseId":"r","createTime":"t"}"#,
        r#"{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[{"a":1},null]}}"#,
    ] {
        assert_eq!(again::<GenerateContentResponse>(text), text);
    }
}

#[test]
fn what_may_be_written_in_several_ways_is_printed_in_one() {
    for (text, printed) in [
        (
            r#"{"contents":{"parts":{"text":"hi"}},"system_instruction":null}"#,
            r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#,
        ),
        (
            r#"{"contents":[{"parts":[{"thought_signature":"s","function_call":{"name":"f","args":null},"text":null}]}]}"#,
            r#"{"contents":[{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"s"}]}]}"#,
        ),
        (
            r#"{"generation_config":{"seed":"9007199254740993","max_output_tokens":1e2,"top_k":"40","temperature":null,"stop_sequences":null}}"#,
            r#"{"generationConfig":{"topK":40,"maxOutputTokens":100,"seed":9007199254740993}}"#,
        ),
        (r#"{"model":"models/gemini-x","labels":null,"tools":null}"#, r#"{}"#),
        // Line breaks end a server-sent event, so they go; nothing else does.
        (
            "{\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"parameters\":{\n \"a\":  \"b\\n\"}}]}], \"new\": [\r\n1]}",
            r#"{"tools":[{"functionDeclarations":[{"name":"f","parameters":{  "a":  "b\n"}}]}],"new":[  1]}"#,
        ),
        // Unknown, and nowhere to put it.
        (r#"{"safetySettings":[{"category":"c","x":[1]}]}"#, r#"{"safetySettings":[{"category":"c"}]}"#),
    ] {
        assert_eq!(again::<GenerateContentRequest>(text), printed, "{text}");
    }
}

#[test]
fn the_name_of_the_model_is_read_without_its_collection() {
    for (text, model) in
        [(r#"{"model":"models/a"}"#, "a"), (r#"{"model":"a"}"#, "a"), (r#"{"model":null}"#, "")]
    {
        assert_eq!(decode::<GenerateContentRequest>(text.as_bytes()).unwrap().model, model, "{text}");
    }
}

#[test]
fn errors_name_the_way_to_what_is_wrong() {
    for (text, path, problem) in [
        (
            r#"{"contents":[{},{"parts":[{"functionCall":{"name":5}}]}]}"#,
            "contents[1].parts[0].functionCall.name: ",
            "expected a string",
        ),
        (
            r#"{"contents":[{"parts":[{"text":"a"},{"thought":"x"}]}]}"#,
            "contents[0].parts[1].thought: ",
            "expected a bool",
        ),
        (
            r#"{"contents":[{"parts":[{"text":"a","inlineData":{}}]}]}"#,
            "contents[0].parts[0]",
            "holds one thing",
        ),
        (r#"{"contents":5}"#, "contents: ", "expected a list"),
        (r#"{"generationConfig":{"seed":1.5}}"#, "generationConfig.seed: ", "expected a number"),
        (
            r#"{"generationConfig":{"maxOutputTokens":3000000000}}"#,
            "generationConfig.maxOutputTokens: ",
            "that fits",
        ),
        (
            r#"{"generationConfig":{"temperature":"NaN"}}"#,
            "generationConfig.temperature: ",
            "expected a number",
        ),
        (r#"{"generationConfig":{"temperature":1e999}}"#, "generationConfig.temperature: ", "out of range"),
        (r#"{"generationConfig":{"topP":1,"top_p":1}}"#, "generationConfig", "duplicate"),
        (r#"{"store":1,"store":2}"#, "", "stands twice"),
        (
            r#"{"tools":[{"functionDeclarations":[{"parameters":{"a":}}]}]}"#,
            "tools[0].functionDeclarations[0].parameters",
            "expected value",
        ),
        (r#"{"contents":[]} x"#, "", "trailing"),
        ("[]", "", "invalid type"),
    ] {
        let said = refused::<GenerateContentRequest>(text);
        assert!(said.starts_with(path) && said.contains(problem), "{text}: {said}");
    }
    assert!(decode::<GenerateContentRequest>(b"{\"x\":\"\xff\"}").is_err());
}

#[test]
fn what_is_no_json_is_not_printed() {
    let call = |args: &str| FunctionCall { name: "f".into(), args: args.into(), ..FunctionCall::default() };
    let mut out = b"before".to_vec();
    let said = encode(&call("{oops"), &mut out).unwrap_err().to_string();
    assert!(said.contains("not JSON"), "{said}");
    assert_eq!(out, b"before");
    let part = Part { extra: "[1]".into(), ..Part::default() };
    assert!(encode(&part, &mut out).unwrap_err().to_string().contains("extra is not a JSON object"));
    let config = GenerationConfig { temperature: Some(f64::NAN), ..GenerationConfig::default() };
    assert_eq!(print(&config), "{}");
}

#[test]
fn an_unknown_member_does_not_contradict_a_known_one() {
    let part = Part { extra: r#"{"text":"b","new":1}"#.into(), ..Part::of(Data::Text("a".into())) };
    assert_eq!(print(&part), r#"{"text":"a","new":1}"#);
}

#[test]
fn a_journal_event_holds_it_in_its_own_words() {
    let part: Part = decode(SIGNED_CALL.as_bytes()).unwrap();
    let answered = ToolAnswered { tool_call_id: "1".into(), parts: vec![part] };
    let event = TaskEvent { sequence: 7, time: None, event: Some(Event::ToolAnswer(answered)) };
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(
        text,
        format!(r#"{{"sequence":"7","toolAnswer":{{"toolCallId":"1","parts":[{SIGNED_CALL}]}}}}"#)
    );
    assert_eq!(crate::proto::json::decode::<TaskEvent>(text.as_bytes()).unwrap(), event);
    // The slow way, by descriptors, knows it too; only the text of great numbers is lost on it.
    let small = text.replace("12345678901234567890123", "5");
    let tree = serde_json::from_str(&small).unwrap();
    let slow: TaskEvent = crate::proto::json::decode_tree(tree).unwrap();
    assert_eq!(serde_json::to_string(&slow).unwrap(), small);
}

const SIGNED_CALL: &str =
    r#"{"functionCall":{"id":"1","name":"f","args":{"n":12345678901234567890123}},"thoughtSignature":"a_b"}"#;

#[test]
fn what_is_read_from_json_is_not_too_deep_for_protobuf() {
    let (open, close) = (r#"{"functionResponse":{"parts":["#, "]}}");
    let mut deepest = 0;
    for depth in 1..60 {
        let text = format!("{}{{}}{}", open.repeat(depth), close.repeat(depth));
        let Ok(part) = decode::<Part>(text.as_bytes()) else { break };
        let events = TaskEvents {
            events: vec![TaskEvent {
                event: Some(Event::ToolAnswer(ToolAnswered { parts: vec![part], ..ToolAnswered::default() })),
                ..TaskEvent::default()
            }],
        };
        assert_eq!(TaskEvents::decode(events.encode_to_vec().as_slice()).unwrap(), events);
        deepest = depth;
    }
    assert!((30..59).contains(&deepest), "{deepest}");
    assert!(decode::<Part>(br#"{"functionResponse":{"parts":{"text":"a"}}}"#).is_err());
}

/// Any JSON, and often members that mean something.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i32>().prop_map(|n| n.to_string()),
        "[1-9][0-9]{20,30}",
        "[a-z\"\\\\\n]{0,8}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let names = prop_oneof![
        prop::sample::select(vec![
            "text",
            "thought",
            "functionCall",
            "name",
            "args",
            "parts",
            "role",
            "contents",
            "tools",
            "extra",
            "functionDeclarations",
            "parameters",
            "generationConfig",
            "seed",
            "temperature",
            "responseSchema",
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,4}",
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let member = (names.clone(), inner.clone()).prop_map(|(name, value)| format!("{name:?}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(",\n"))),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_read_once_stays_as_it_is(text in json()) {
        if let Ok(request) = decode::<GenerateContentRequest>(text.as_bytes()) {
            let printed = print(&request);
            prop_assert_eq!(&again::<GenerateContentRequest>(&printed), &printed);
            prop_assert!(!printed.contains('\n'));
        }
        if let Ok(part) = decode::<Part>(text.as_bytes()) {
            let printed = print(&part);
            let second: Part = decode(printed.as_bytes()).unwrap();
            prop_assert_eq!(&print(&second), &printed);
        }
    }
}
