//! Conversions over the cases in `tests/golden/openai`. Of `<case>.in.json`, a client's request, comes `<case>.hub.json`: what
//! the model is asked, and what was changed. Of `<case>.chunks.json`, the hub's chunks one on each line, come
//! `<case>.out.sse` and, as a whole, `<case>.out.json`; the request is that of `<case>.in.json`, or a plain one.
//! `AGENA_GOLDEN=refresh` writes the results anew.

use std::fs;
use std::path::{Path, PathBuf};

use prop::sample::Index;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stream::Tell;
use super::*;
use crate::domain::error::Error;
use crate::domain::model::Gathered;
use crate::facade::{Asked, Converted, Reply};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentResponse, Part};
use crate::proto::openai::{ChatCompletion, ChatCompletionChunk, ChatCompletionRequest};
use crate::proto::vendor;
use crate::transcode::vendor::Event;

const CASES: &str = "tests/golden/openai";
const ASKED: Asked<'_> = Asked { id: "0123456789abcdef", now: 1_700_000_000, version: "" };
const PLAIN: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#;

fn cases(ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    found.sort();
    assert!(found.len() >= 15, "{ending}: {} cases", found.len());
    found
}

fn beside(path: &Path, ending: &str, other: &str) -> PathBuf {
    PathBuf::from(path.to_str().unwrap().replace(ending, other))
}

/// What is different, or nothing if it was written anew.
fn compare(path: &Path, ours: &str) -> Option<String> {
    if std::env::var_os("AGENA_GOLDEN").is_some_and(|value| value == "refresh") {
        fs::write(path, ours).unwrap();
        return None;
    }
    let same = fs::read_to_string(path).is_ok_and(|theirs| theirs == ours);
    (!same).then(|| format!("{}:\n{ours}", path.display()))
}

fn printed<T: serde::Serialize + prost::Name>(message: &T) -> String {
    let mut out = Vec::new();
    vendor::encode(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn converted(text: &str) -> Result<Converted<Answer>, Error> {
    let request: ChatCompletionRequest = vendor::decode(text.as_bytes()).unwrap();
    convert(request, &ASKED)
}

fn hub(text: &str) -> String {
    let Converted { request, report, remote, .. } = match converted(text) {
        Ok(converted) => converted,
        Err(error) => return format!("{}\n", json!({"error": error.to_string()})),
    };
    let visible = request.generation_config.as_ref().and_then(|config| config.visible_output_tokens);
    let remote: Vec<_> = remote.iter().map(|remote| [&remote.field, &remote.url]).collect();
    let changes: Vec<String> =
        report.changes().iter().map(|change| json!(change.to_string()).to_string()).collect();
    let request = printed(&request)
        .replace("},{\"role\"", "},\n {\"role\"")
        .replace(",\"systemInstruction\"", ",\n\"systemInstruction\"")
        .replace(",\"tools\"", ",\n\"tools\"")
        .replace(",\"generationConfig\"", ",\n\"generationConfig\"");
    format!(
        "{{\"request\":{request},\n\"visible\":{},\"remote\":{},\n\"changes\":[{}]}}\n",
        json!(visible),
        json!(remote),
        changes.join(",\n ")
    )
}

fn read(text: &str) -> Vec<GenerateContentResponse> {
    text.lines().map(|line| vendor::decode(line.as_bytes()).unwrap()).collect()
}

/// The events, and the error that ended them.
fn streamed(
    request: &str,
    chunks: Vec<GenerateContentResponse>,
) -> (Vec<ChatCompletionChunk>, Option<Error>) {
    let (mut reply, mut events) = (converted(request).unwrap().reply, Vec::new());
    for chunk in chunks {
        if let Err(error) = reply.push(chunk, &mut events) {
            return (events, Some(error));
        }
    }
    let ended = reply.finish(&mut events);
    (events, ended.err())
}

fn whole(request: &str, chunks: Vec<GenerateContentResponse>) -> Result<ChatCompletion, Error> {
    let mut gathered = Gathered::default();
    chunks.into_iter().for_each(|chunk| gathered.push(chunk));
    converted(request).unwrap().reply.answer(gathered.finish())
}

/// As a client puts it together.
fn together(request: &str, events: Vec<ChatCompletionChunk>) -> ChatCompletion {
    let Converted { reply, .. } = converted(request).unwrap();
    let (sound, mut head, mut whole) = (reply.sound(), reply.head(), gather::Whole::default());
    for event in events {
        (head.name, head.created) = (event.id, event.created);
        (head.model, head.tier) = (event.model, event.service_tier);
        for choice in event.choices {
            whole.delta(&head, choice.index, choice.delta.unwrap_or_default(), choice.logprobs);
            if let Some(reason) = choice.finish_reason {
                whole.end(&head, choice.index, reason.leak());
            }
        }
        event.usage.into_iter().for_each(|usage| whole.usage(&head, usage));
    }
    whole.finish(head, sound)
}

fn failed(error: Error) -> String {
    let mut out = Vec::new();
    ChatCompletionChunk::error(&error.into(), "", &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_request_comes_out_as_recorded() {
    let wrong: Vec<String> = cases(".in.json")
        .iter()
        .filter_map(|path| {
            compare(&beside(path, ".in.json", ".hub.json"), &hub(&fs::read_to_string(path).unwrap()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn request_of(path: &Path) -> String {
    fs::read_to_string(beside(path, ".chunks.json", ".in.json")).unwrap_or_else(|_| PLAIN.to_owned())
}

#[test]
fn every_answer_comes_out_as_recorded() {
    let mut wrong = Vec::new();
    for path in cases(".chunks.json") {
        let (request, chunks) = (request_of(&path), read(&fs::read_to_string(&path).unwrap()));
        let (events, error) = streamed(&request, chunks.clone());
        let mut lines: String = events.iter().map(|event| format!("data: {}\n\n", printed(event))).collect();
        lines += &error.map_or("data: [DONE]\n\n".to_owned(), |error| format!("data: {}\n\n", failed(error)));
        wrong.extend(compare(&beside(&path, ".chunks.json", ".out.sse"), &lines));
        let answer = whole(&request, chunks).map_or_else(failed, |answer| printed(&answer));
        wrong.extend(compare(&beside(&path, ".chunks.json", ".out.json"), &format!("{answer}\n")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_case_is_left_over() {
    let files = fs::read_dir(CASES).unwrap().count();
    assert_eq!(files, 2 * cases(".in.json").len() + 3 * cases(".chunks.json").len());
}

/// The role first, every choice ends once, and behind it comes nothing but what it took.
#[test]
fn every_stream_has_the_order_that_clients_expect() {
    for path in cases(".chunks.json") {
        let (events, error) = streamed(&request_of(&path), read(&fs::read_to_string(&path).unwrap()));
        let mut begun: Vec<i32> = Vec::new();
        let mut ended: Vec<i32> = Vec::new();
        for choice in events.iter().flat_map(|event| &event.choices) {
            let delta = choice.delta.as_ref().unwrap();
            assert_eq!(delta.role == "assistant", !begun.contains(&choice.index), "{}", path.display());
            assert!(!ended.contains(&choice.index), "{}", path.display());
            begun.push(choice.index);
            ended.extend(choice.finish_reason.as_ref().map(|_| choice.index));
            assert!(delta.tool_calls.iter().all(|call| call.index.is_some()), "{}", path.display());
        }
        begun.sort_unstable();
        begun.dedup();
        ended.sort_unstable();
        assert!(error.is_some() || (begun == ended && !begun.is_empty()), "{}", path.display());
    }
}

/// Texts cut into pieces and everything else alone, each in a chunk of its own; the end of the last chunk stays the last.
fn recut(chunks: &[GenerateContentResponse], cuts: &[Index]) -> Vec<GenerateContentResponse> {
    let mut out = Vec::new();
    let mut cuts = cuts.iter().cycle();
    for chunk in chunks {
        let mut chunk = chunk.clone();
        for candidate in &mut chunk.candidates {
            let Some(content) = candidate.content.take() else { continue };
            for part in content.parts.into_iter().flat_map(|part| pieces(part, cuts.next())) {
                let content = Some(Content { role: "model".to_owned(), parts: vec![part] });
                let alone =
                    crate::proto::gemini::Candidate { index: candidate.index, content, ..Default::default() };
                out.push(GenerateContentResponse { candidates: vec![alone], ..Default::default() });
            }
        }
        out.push(chunk);
    }
    out
}

fn pieces(part: Part, cut: Option<&Index>) -> Vec<Part> {
    let (Some(Data::Text(text)), true, Some(cut)) = (&part.data, part.is_plain_text(), cut) else {
        return vec![part];
    };
    let mut at = cut.index(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let (first, rest) = text.split_at(at);
    vec![Part::text(first), Part::text(rest)]
}

fn logprobs_aside(mut answer: Value) -> Value {
    // They travel beside the text, in the chunk where they came.
    answer["choices"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .for_each(|choice| choice["logprobs"] = Value::Null);
    answer
}

fn told(answer: &ChatCompletion) -> Value {
    logprobs_aside(serde_json::from_str(&printed(answer)).unwrap())
}

/// A message by a number: words, calls under few ids, and answers to them or to nobody.
fn message((kind, id): (u8, u8)) -> Value {
    let call =
        |id: u8| json!({"id": format!("c{id}"), "function": {"name": format!("f{id}"), "arguments": "{}"}});
    match kind {
        0 => json!({"role": "user", "content": "u"}),
        1 => json!({"role": "assistant", "content": "a"}),
        2 => json!({"role": "system", "content": "s"}),
        3 => json!({"role": "assistant", "tool_calls": [call(id)]}),
        4 => json!({"role": "assistant", "content": "a", "tool_calls": [call(id), call(id + 1)]}),
        _ => json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": id.to_string()}),
    }
}

fn names(content: &Content, of: impl Fn(&Data) -> Option<(String, String)>) -> Vec<(String, String)> {
    content.parts.iter().filter_map(|part| part.data.as_ref().and_then(&of)).collect()
}

fn called(data: &Data) -> Option<(String, String)> {
    if let Data::FunctionCall(call) = data { Some((call.id.clone(), call.name.clone())) } else { None }
}

fn answered(data: &Data) -> Option<(String, String)> {
    if let Data::FunctionResponse(answer) = data {
        Some((answer.id.clone(), answer.name.clone()))
    } else {
        None
    }
}

proptest! {
    /// Bugs 13, 15 and 17: whatever was sent, each call is answered once, in its order, by name, and beside nothing else.
    #[test]
    fn calls_and_answers_match_in_any_conversation(kinds in prop::collection::vec((0..8u8, 0..4u8), 1..24)) {
        let messages: Vec<Value> = kinds.into_iter().map(message).collect();
        let text = json!({"model": "m", "messages": messages}).to_string();
        let Ok(Converted { request, .. }) = converted(&text) else { return Ok(()) };
        let mut calls = Vec::new();
        for content in &request.contents {
            prop_assert!(!content.parts.is_empty());
            let answers = names(content, answered);
            prop_assert!(answers.is_empty() || answers.len() == content.parts.len());
            prop_assert_eq!(answers, std::mem::take(&mut calls));
            calls = names(content, called);
            prop_assert!(calls.is_empty() || content.role == "model");
        }
        prop_assert!(calls.is_empty());
    }

    #[test]
    fn an_answer_is_the_same_wherever_it_is_cut(case in any::<Index>(), cuts in prop::collection::vec(any::<Index>(), 1..20)) {
        let paths = cases(".chunks.json");
        let path = case.get(&paths);
        let (request, chunks) = (request_of(path), read(&fs::read_to_string(path).unwrap()));
        let again = recut(&chunks, &cuts);
        let (once, twice) = (streamed(&request, chunks.clone()), streamed(&request, again.clone()));
        prop_assert_eq!(once.1.map(failed), twice.1.map(failed));
        let put_together = |events| told(&together(&request, events));
        prop_assert_eq!(put_together(once.0), put_together(twice.0));
        match (whole(&request, chunks), whole(&request, again)) {
            (Ok(one), Ok(other)) => prop_assert_eq!(told(&one), told(&other)),
            (one, other) => prop_assert_eq!(one.map_err(failed).err(), other.map_err(failed).err()),
        }
    }

    #[test]
    fn a_stream_says_what_the_whole_answer_says(case in any::<Index>()) {
        let paths = cases(".chunks.json");
        let path = case.get(&paths);
        let (request, chunks) = (request_of(path), read(&fs::read_to_string(path).unwrap()));
        let (events, error) = streamed(&request, chunks.clone());
        match whole(&request, chunks) {
            Err(refused) => prop_assert_eq!(Some(failed(refused)), error.map(failed)),
            Ok(answer) => {
                let mut together = told(&together(&request, events));
                let mut answer = told(&answer);
                // A stream says it only to those who ask.
                [&mut together, &mut answer].into_iter().for_each(|each| each["usage"] = Value::Null);
                prop_assert_eq!(together, answer);
            }
        }
    }
}
