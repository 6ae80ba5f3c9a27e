//! What is written down gives the same again: the same chunks, at the same times, with the same end.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::domain::model::ModelCause;
use crate::proto::gemini::{
    Blob, Candidate, CodeExecutionResult, ExecutableCode, PromptFeedback, UsageMetadata,
};
use crate::proto::vendor;

fn read(json: &str) -> GenerateContentResponse {
    vendor::decode(json.as_bytes()).unwrap_or_else(|e| panic!("{json}: {e}"))
}

fn print(chunk: &GenerateContentResponse) -> String {
    let mut out = Vec::new();
    vendor::encode(chunk, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn take(said: &str, chunks: Vec<(u64, GenerateContentResponse)>, end: u64, outcome: Outcome) -> Take {
    let chunks = chunks.into_iter().map(|(at, chunk)| (Duration::from_millis(at), chunk)).collect();
    Take { chunks, end: (Duration::from_millis(end), outcome), ..Take::of(&request(&[user(said)])) }
}

/// Chunks and errors with the milliseconds at which they came, and when it was over; never, if it was not.
type Heard = (Vec<(u128, Result<GenerateContentResponse, ModelError>)>, Option<u128>);

fn replay(take: &Take, said: &str) -> Heard {
    let rule = take.rule();
    let script = Script::parse(&format!("rules:\n{rule}")).unwrap_or_else(|e| panic!("{rule}\n{e}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (mut heard, begin) = (Vec::new(), tokio::time::Instant::now());
        let mut chunks = Rehearsal::new(script).stream(request(&[user(said)]));
        loop {
            let next = tokio::time::timeout(Duration::from_hours(48), chunks.next()).await;
            let now = begin.elapsed().as_millis();
            match next {
                Ok(Some(item)) => heard.push((now, item)),
                Ok(None) => return (heard, Some(now)),
                Err(_) => return (heard, None),
            }
        }
    })
}

/// The lines below `do:`.
fn lines(take: &Take) -> Vec<String> {
    take.rule().lines().skip(2).map(|line| line.trim_start_matches("  - ").to_owned()).collect()
}

#[test]
fn a_chunk_is_one_readable_line() {
    for (chunk, written) in [
        (
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a \"b\"\n"}]}}],"modelVersion":"rehearsal"}"#,
            vec![r#"say: "a \"b\"\n""#],
        ),
        (
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4,"promptTokensDetails":[{"modality":"TEXT","tokenCount":3}]},"modelVersion":"m","responseId":"r"}"#,
            vec![
                r#"model: "m""#,
                r#"response_id: "r""#,
                r#"{say: "a", finish: "STOP", usage: {input: 3, output: 1, more: {"promptTokensDetails":[{"modality":"TEXT","tokenCount":3}]}}}"#,
            ],
        ),
        (
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"**A**\n\nb","thought":true},{"text":"","thoughtSignature":"s"},{"functionCall":{"name":"f","args":{"b":1,"a":["x"]}},"thoughtSignature":"t"},{"functionCall":{"id":"1","name":"g","args":{}}}]}}]}"#,
            vec![
                r#"model: """#,
                r#"{think: "**A**\n\nb", say: "", signature: "s", calls: [{tool: "f", with: {"b":1,"a":["x"]}, id: "", signature: "t"}, {tool: "g", with: {}, id: "1"}]}"#,
            ],
        ),
        // Numbers that YAML would change, and texts that would be filled in.
        (
            r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1.10}}}]}}],"modelVersion":"rehearsal"}"#,
            vec![r#"call: {tool: "f", with: '{"n":1.10}', id: ""}"#],
        ),
        (
            r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"t":"{text}"}}}]}}],"modelVersion":"rehearsal"}"#,
            vec![r#"call: {tool: "f", with: '{"t":"{text}"}', id: ""}"#],
        ),
        (
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"it's {result}"}]}}],"modelVersion":"rehearsal"}"#,
            vec![
                r#"chunk: '{"candidates":[{"content":{"role":"model","parts":[{"text":"it''s {result}"}]}}],"modelVersion":"rehearsal"}'"#,
            ],
        ),
        (
            r#"{"usageMetadata":{"promptTokenCount":3}}"#,
            vec![r#"chunk: '{"usageMetadata":{"promptTokenCount":3}}'"#],
        ),
    ] {
        let take = take("go", vec![(0, read(chunk))], 0, Outcome::Whole);
        let mut expected = written.clone();
        expected.extend((!chunk.contains("finishReason")).then_some("end"));
        assert_eq!(lines(&take), expected);
        assert_eq!(replay(&take, "go").0, [(0, Ok(read(chunk)))]);
    }
}

#[test]
fn the_end_is_written_too() {
    let said = read(
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}],"modelVersion":"rehearsal"}"#,
    );
    let limited = ModelError {
        retry_after: Some(Duration::from_hours(25)),
        ..ModelError::new(ModelCause::Limited, "")
    };
    for (at, outcome, written) in [
        (0, Outcome::Whole, "end"),
        (7, Outcome::Whole, "{wait: 2ms, end}"),
        (1234, Outcome::Left, "silence  # The caller left after 1234ms."),
        (5, Outcome::Failed(limited), r#"error: {status: 429, message: "", after: 90000000ms}"#),
        (5, Outcome::Failed(fault::reset(true)), "reset"),
        (6, Outcome::Failed(fault::garbage()), "{wait: 1ms, garbage}"),
    ] {
        let take = take("go", vec![(5, said.clone())], at, outcome.clone());
        assert_eq!(lines(&take), [r#"{wait: 5ms, say: "a"}"#, written]);
        let (heard, over) = replay(&take, "go");
        assert_eq!(over.is_none(), outcome == Outcome::Left);
        assert_eq!(heard.len(), 1 + usize::from(matches!(outcome, Outcome::Failed(_))));
    }
}

const JSON: &[&str] = &[
    "{}",
    r#"{"a":1,"b":"x"}"#,
    r#"{"b":[1,2.5,true,null],"a":{"d":{},"c":"é"}}"#,
    r#"{"n":1.10,"e":1e400,"z":-0,"big":12345678901234567890123}"#,
    r#"{ "spaced" :  [ 1 , 2 ] }"#,
    r#"{"esc":"\u00e9\/\ud83d\ude00","fill":"{text}"}"#,
    r#"{"yaml":"- a: b # c","no":"no","quote":"it's"}"#,
    r#"{"":"","<<":"x","~":1,"null":"null"}"#,
];

fn json() -> impl Strategy<Value = String> {
    proptest::sample::select(JSON).prop_map(str::to_owned)
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,8}",
        any::<String>(),
        "(\\{text\\}|\\{result\\}|'|\"|\\n|: |#|é|\u{85}|\u{2028}){0,5}"
    ]
}

fn data() -> impl Strategy<Value = Data> {
    let call =
        ("[a-z_]{0,5}", "[a-z]{1,5}", json()).prop_map(|(id, name, args)| FunctionCall { id, name, args });
    prop_oneof![
        6 => words().prop_map(Data::Text),
        3 => call.prop_map(Data::FunctionCall),
        1 => Just(Data::InlineData(Blob { mime_type: "image/png".into(), data: "AA==".into() })),
        1 => Just(Data::ExecutableCode(ExecutableCode { code: "1".into(), ..ExecutableCode::default() })),
        1 => Just(Data::CodeExecutionResult(CodeExecutionResult { output: "1".into(), ..CodeExecutionResult::default() })),
    ]
}

fn part() -> impl Strategy<Value = HubPart> {
    let extra = option::weighted(0.1, json()).prop_map(Option::unwrap_or_default);
    let signature = option::weighted(0.2, "[a-zA-Z+/=]{1,9}").prop_map(Option::unwrap_or_default);
    (option::weighted(0.95, data()), proptest::bool::weighted(0.2), signature, extra).prop_map(
        |(data, thought, thought_signature, extra)| HubPart { data, thought, thought_signature, extra },
    )
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let role = prop_oneof![9 => Just("model"), 1 => Just("")];
    let content = (role, vec(part(), 0..4)).prop_map(|(role, parts)| Content { role: role.into(), parts });
    let rest = (
        prop_oneof![8 => Just(0), 1 => Just(1)],
        option::weighted(0.1, json()),
        option::weighted(0.1, json()),
    );
    (option::weighted(0.9, content), prop_oneof![Just(""), Just("STOP")], rest).prop_map(
        |(content, finish, (index, grounding, extra))| Candidate {
            content,
            finish_reason: finish.into(),
            index,
            grounding_metadata: grounding.unwrap_or_default(),
            extra: extra.unwrap_or_default(),
            ..Candidate::default()
        },
    )
}

fn usage() -> impl Strategy<Value = UsageMetadata> {
    (any::<[i32; 6]>(), option::weighted(0.3, json())).prop_map(|(count, extra)| UsageMetadata {
        prompt_token_count: count[0],
        cached_content_token_count: count[1],
        candidates_token_count: count[2],
        thoughts_token_count: count[3],
        tool_use_prompt_token_count: count[4],
        total_token_count: count[5],
        extra: extra.unwrap_or_default(),
    })
}

fn chunk() -> impl Strategy<Value = GenerateContentResponse> {
    let candidates = prop_oneof![8 => vec(candidate(), 1..2), 1 => vec(candidate(), 0..3)];
    let names = (prop_oneof![Just("m"), Just(""), Just("n")], prop_oneof![Just("r"), Just("")]);
    let refused = Just(PromptFeedback { block_reason: "SAFETY".into(), ..PromptFeedback::default() });
    let rest = (option::weighted(0.05, refused), option::weighted(0.1, json()));
    (candidates, option::weighted(0.5, usage()), names, rest).prop_map(
        |(candidates, usage_metadata, (model, id), (prompt_feedback, extra))| {
            let chunk = GenerateContentResponse {
                candidates,
                prompt_feedback,
                usage_metadata,
                model_version: model.into(),
                response_id: id.into(),
                extra: extra.unwrap_or_default(),
            };
            // As it would have been read from a wire.
            read(&print(&chunk))
        },
    )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    use ModelCause::*;
    let causes = [
        Invalid,
        TooLong,
        Denied,
        Forbidden,
        NotFound,
        Unsupported,
        Limited,
        Exhausted,
        Unavailable,
        Failed,
        Broken,
    ];
    let error = (proptest::sample::select(causes.to_vec()), words(), option::of(0..100_000_000_u64));
    let error = error.prop_map(|(cause, message, after)| ModelError {
        retry_after: after.map(Duration::from_millis),
        ..ModelError::new(cause, message)
    });
    prop_oneof![3 => Just(Outcome::Whole), 1 => error.prop_map(Outcome::Failed), 1 => Just(Outcome::Left)]
}

proptest! {
    #[test]
    fn any_answer_comes_again(
        said in words(),
        timed in vec((0..3000_u64, chunk()), 0..6),
        last in 0..3000_u64,
        outcome in outcome(),
    ) {
        let mut now = 0;
        let timed: Vec<_> = timed.into_iter().map(|(wait, chunk)| { now += wait; (now, chunk) }).collect();
        let take = take(&said, timed.clone(), now + last, outcome.clone());
        let (mut heard, over) = replay(&take, &said);
        match outcome {
            Outcome::Whole => prop_assert_eq!(over, Some(u128::from(now + last))),
            Outcome::Left => prop_assert_eq!(over, None),
            Outcome::Failed(error) => {
                let (at, failed) = heard.pop().unwrap();
                let failed = ModelError { staged: None, ..failed.unwrap_err() };
                prop_assert_eq!((at, failed), (u128::from(now + last), error));
            }
        }
        let expected: Vec<_> = timed.into_iter().map(|(at, chunk)| (u128::from(at), Ok(chunk))).collect();
        prop_assert_eq!(heard, expected, "{}", take.rule());
    }
}
