//! What single lines come to on the wire, and which of several rules speaks.

use super::*;
use crate::domain::model::{ModelCause, Staged};
use crate::proto::vendor;

/// Each chunk as Gemini's JSON, each error by its cause.
fn played(script: &str, contents: &[Content]) -> Vec<String> {
    printed(ask(&Rehearsal::new(Script::parse(script).unwrap()), contents))
}

fn printed(answer: Answered) -> Vec<String> {
    let print = |chunk: Result<GenerateContentResponse, ModelError>| match chunk {
        Ok(chunk) => {
            let mut out = Vec::new();
            vendor::encode(&chunk, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }
        Err(error) => format!("{:?}", error.cause),
    };
    answer.into_iter().map(print).collect()
}

fn one_answer(lines: &str) -> Vec<String> {
    played(&format!("rules:\n- when: {{said: go, turn: 1, answered: 0}}\n  do:\n{lines}"), &[user("go")])
}

#[test]
fn an_entry_is_a_chunk() {
    for (lines, chunks) in [
        (
            "  - model: m\n  - response_id: r\n  - {wait: 5ms, say: a, finish: STOP, usage: {input: 1, output: 2}}\n",
            vec![
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3},"modelVersion":"m","responseId":"r"}"#,
            ],
        ),
        (
            "  - model: ''\n  - {think: \"**A**\\n\\nb\\n\", signature: s}\n  - {say: [a, b], call: {tool: f, id: '', with: '{\"n\": 1.10}'}}\n  - end\n",
            vec![
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"**A**\n\nb\n","thought":true,"thoughtSignature":"s"}]}}]}"#,
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"},{"text":"b"},{"functionCall":{"name":"f","args":{"n": 1.10}}}]}}]}"#,
            ],
        ),
        (
            "  - model: m\n  - calls: [{tool: f}, {tool: g, id: x, signature: t}, {tool: h}]\n  - {finish: MAX_TOKENS, usage: {cached: 3, thoughts: 4, tools: 5, total: 1, more: {x: [1]}}}\n",
            vec![
                r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"rehearsal-1","name":"f","args":{}},"thoughtSignature":"cmVoZWFyc2FsLTE="},{"functionCall":{"id":"x","name":"g","args":{}},"thoughtSignature":"t"},{"functionCall":{"id":"rehearsal-3","name":"h","args":{}}}]}}],"modelVersion":"m"}"#,
                r#"{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"cachedContentTokenCount":3,"thoughtsTokenCount":4,"toolUsePromptTokenCount":5,"totalTokenCount":1,"x":[1]},"modelVersion":"m"}"#,
            ],
        ),
        (
            "  - chunk: {candidates: [{index: 1, content: {parts: [{text: '{text}'}]}, finishReason: STOP}]}\n  - chunk: '{\"new\": 1.50}'\n",
            vec![
                r#"{"candidates":[{"content":{"parts":[{"text":"{text}"}]},"finishReason":"STOP","index":1}]}"#,
                r#"{"new":1.50}"#,
            ],
        ),
        (
            "  - usage: {output: 7, input: 5}\n  - finish: SAFETY\n",
            vec![
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"SAFETY"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":12},"modelVersion":"rehearsal"}"#,
            ],
        ),
        ("  - end\n", vec![]),
    ] {
        assert_eq!(one_answer(lines), chunks, "{lines}");
    }
}

#[test]
fn turns_and_answers_tell_rules_apart() {
    let script = "rules:
- {when: {said: go, turn: 1, answered: 0}, do: [call: {tool: f}, say: behind, end]}
- {when: {said: go, turn: 1, answered: 1}, do: [say: second, end]}
- {when: {said: go, turn: 2}, do: [call: {tool: f}, say: 'turn two']}
- {when: {said: Go}, do: [say: other, end]}
";
    let told = |contents: &[Content]| {
        let rehearsal = Rehearsal::new(Script::parse(script).unwrap());
        shown(ask(&rehearsal, contents)).into_iter().map(|line| line[..6].to_owned()).collect::<Vec<_>>()
    };
    let mut said = vec![user("go")];
    assert_eq!(told(&said), ["call r", "say be"], "one answer, which calls do not end");
    said.extend([called("1"), tools_say("{}")]);
    assert_eq!(told(&said), ["say se"]);
    said.extend([model("second"), user("go")]);
    assert_eq!(told(&said)[0], "call r");
    said.extend([called("2"), tools_say("{}")]);
    assert_eq!(told(&said)[0], "say tu");
    assert_eq!(told(&[user("Go")]), ["say ot"]);
}

#[test]
fn several_rules_for_one_answer_speak_in_turn() {
    let script = "rules:
- {when: {said: go, turn: 1, answered: 0}, do: [error: {status: 429}]}
- {when: {said: go, turn: 1, answered: 0}, do: [say: a, end]}
- {when: {said: no, turn: 1, answered: 0}, do: [say: x, end]}
- {when: {said: go, turn: 1, answered: 0}, do: [say: b, end]}
";
    let rehearsal = Rehearsal::new(Script::parse(script).unwrap());
    let mut told = || shown(ask(&rehearsal, &[user("go")])).remove(0);
    let told: Vec<String> = std::iter::repeat_with(&mut told).take(4).collect();
    assert_eq!(told[1..], ["say a", "say b", "say b"]);
    assert!(told[0].starts_with("error Limited"), "{told:?}");
}

#[test]
fn faults_come_as_often_as_they_are_asked_for() {
    let staged = |script: &str| {
        let rehearsal = Rehearsal::new(Script::parse(script).unwrap());
        let other = rehearsal.clone();
        let mut ends = Vec::new();
        for rehearsal in [&rehearsal, &other, &rehearsal] {
            let answer = ask(rehearsal, &[user("go")]);
            let said = answer.iter().filter(|chunk| chunk.is_ok()).count();
            let error =
                answer.last().unwrap().as_ref().err().map(|error| (error.cause, error.staged.unwrap()));
            ends.push((said, error));
        }
        ends
    };
    let limited = Some((ModelCause::Limited, Staged::Status(429)));
    let gone = Some((ModelCause::Unavailable, Staged::Reset));
    let broken = Some((ModelCause::Broken, Staged::Reset));
    let garbage = Some((ModelCause::Broken, Staged::Garbage));
    for (lines, ends) in [
        ("error: {status: 429, times: 2}, say: a", [(0, limited), (0, limited), (2, None)]),
        ("reset: {times: 1}, say: a", [(0, gone), (2, None), (2, None)]),
        ("say: a, reset: {times: 1}, say: b", [(1, broken), (3, None), (3, None)]),
        ("reset", [(0, gone); 3]),
        ("say: a, reset", [(1, broken); 3]),
        ("garbage", [(0, garbage); 3]),
        ("say: a, garbage: {times: 0}", [(2, None); 3]),
    ] {
        assert_eq!(staged(&format!("rules:\n- do: [{lines}]\n")), ends, "{lines}");
    }
}

#[tokio::test(start_paused = true)]
async fn silence_lasts_until_the_caller_leaves() {
    let rehearsal =
        Rehearsal::new(Script::parse("rules:\n- do: [say: a, silence: {times: 1}, say: b]\n").unwrap());
    let mut chunks = rehearsal.stream(request(&[user("go")]));
    assert!(chunks.next().await.unwrap().is_ok());
    let day = std::time::Duration::from_hours(24);
    assert!(tokio::time::timeout(day, chunks.next()).await.is_err(), "it said something");
    drop(chunks);
    assert_eq!(ask_now(&rehearsal).await.len(), 3);
}

async fn ask_now(rehearsal: &Rehearsal) -> Answered {
    rehearsal.stream(request(&[user("go")])).collect().await
}

#[tokio::test(start_paused = true)]
async fn time_goes_as_fast_as_the_script_says_and_short_waits_do_not_add_up_to_more() {
    let lines = "{wait: 0.1ms, say: a}, ".repeat(10_000);
    for (speed, expected) in [("", 1000), ("speed: 10\n", 100), ("speed: 0.5\n", 2000), ("speed: 0\n", 0)] {
        let script = format!("{speed}rules:\n- do: [{lines} end]\n");
        let rehearsal = Rehearsal::new(Script::parse(&script).unwrap());
        let begin = tokio::time::Instant::now();
        assert_eq!(ask_now(&rehearsal).await.len(), 10_000);
        let took = begin.elapsed().as_millis();
        assert!(took.abs_diff(expected) <= 2, "{speed}: {took}");
    }
}
