//! Conversions over the cases in `tests/golden/responses`: of `<case>.in.json`, a request, comes `<case>.hub.json` with what
//! the model is asked and what was changed; of `<case>.chunks.json`, chunks of the hub on a line each, the events in
//! `<case>.out.sse` and the whole answer in `<case>.out.json`. `AGENA_GOLDEN=refresh` writes these anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Answer, Told, convert};
use crate::domain::model::Gathered;
use crate::facade::{Asked, Reply};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentResponse, Part};
use crate::proto::openai::{CreateResponseRequest, ResponseEvent};
use crate::proto::vendor;

const CASES: &str = "tests/golden/responses";
const ASKED: Asked<'_> = Asked { id: "0123456789abcdef0123456789abcdef", now: 1_700_000_000, version: "" };

fn cases(ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    found.sort();
    assert!(found.len() >= 8, "{ending}: {} cases", found.len());
    found
}

fn check(ending: &str, to: &str, run: impl Fn(&str) -> String) {
    let refresh = std::env::var_os("AGENA_GOLDEN").is_some_and(|value| value == "refresh");
    let mut wrong = Vec::new();
    for path in cases(ending) {
        let out = PathBuf::from(path.to_str().unwrap().replace(ending, to));
        let ours = run(&fs::read_to_string(&path).unwrap());
        if refresh {
            fs::write(&out, &ours).unwrap();
        } else if fs::read_to_string(&out).ok().as_ref() != Some(&ours) {
            wrong.push(format!("{}:\n{ours}", out.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn printed<T: serde::Serialize + prost::Name>(message: &T) -> String {
    let mut out = Vec::new();
    vendor::encode(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_request_comes_out_as_recorded() {
    check(".in.json", ".hub.json", |text| {
        let request: CreateResponseRequest = vendor::decode(text.as_bytes()).unwrap();
        match convert(request, Vec::new(), &ASKED) {
            Err(error) => format!("{}\n", json!({"refused": error.to_string()})),
            Ok(converted) => {
                let hub = printed(&converted.request).replace("},{\"role\"", "},\n {\"role\"");
                let changes = converted.report.changes().iter().map(|change| format!("{change}\n"));
                format!("{hub}\n{}", changes.collect::<String>())
            }
        }
    });
}

/// The request that answers belong to.
fn answer() -> Answer {
    let request = json!({
        "model": "m", "input": "hi", "store": false, "include": ["reasoning.encrypted_content", "web_search_call.action.sources"],
        "tools": [
            {"type": "function", "name": "f", "parameters": {"type": "object"}},
            {"type": "custom", "name": "apply_patch"},
            {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "read"}]},
            {"type": "local_shell"},
        ],
    });
    let request: CreateResponseRequest = vendor::decode(request.to_string().as_bytes()).unwrap();
    convert(request, Vec::new(), &ASKED).unwrap().reply
}

fn chunks(text: &str) -> Vec<GenerateContentResponse> {
    text.lines().map(|line| vendor::decode(line.as_bytes()).unwrap()).collect()
}

fn events(chunks: Vec<GenerateContentResponse>) -> Vec<ResponseEvent> {
    let (mut answer, mut out) = (answer(), Vec::new());
    for chunk in chunks {
        answer.push(chunk, &mut out).unwrap();
    }
    if let Err(error) = answer.finish(&mut out) {
        assert!(answer.fail(&error, &mut out));
    }
    out.into_iter().map(|Told { told, .. }| told).collect()
}

#[test]
fn every_stream_comes_out_as_recorded() {
    check(".chunks.json", ".out.sse", |text| {
        let frame = |event: &ResponseEvent| format!("event: {}\ndata: {}\n\n", event.kind(), printed(event));
        events(chunks(text)).iter().map(frame).collect()
    });
}

fn whole(chunks: Vec<GenerateContentResponse>) -> String {
    let mut gathered = Gathered::default();
    chunks.into_iter().for_each(|chunk| gathered.push(chunk));
    match answer().answer(gathered.finish()) {
        Ok(Told { told, .. }) => printed(&told),
        Err(error) => json!({"error": error.to_string()}).to_string(),
    }
}

#[test]
fn every_whole_answer_comes_out_as_recorded() {
    check(".chunks.json", ".out.json", |text| whole(chunks(text)) + "\n");
}

fn parsed(event: &ResponseEvent) -> Value {
    serde_json::from_str(&printed(event)).unwrap()
}

/// What clients put together of a stream: the items of its end, and the texts of its deltas.
fn seen(events: &[ResponseEvent]) -> (Value, BTreeMap<String, String>) {
    let mut texts = BTreeMap::<String, String>::new();
    for event in events.iter().map(parsed) {
        if let (Some(id), Some(delta)) = (event["item_id"].as_str(), event["delta"].as_str()) {
            texts.entry(id.to_owned()).or_default().push_str(delta);
        }
    }
    let mut last = parsed(events.last().unwrap());
    (last["response"].take(), texts)
}

#[test]
fn a_stream_says_what_the_whole_answer_says() {
    for path in cases(".chunks.json") {
        let text = fs::read_to_string(&path).unwrap();
        let events = events(chunks(&text));
        let numbers: Vec<i64> = events.iter().map(|event| event.sequence_number).collect();
        assert_eq!(numbers, (0..).take(events.len()).collect::<Vec<_>>(), "{}", path.display());
        let (last, _) = seen(&events);
        let unary: Value = serde_json::from_str(&whole(chunks(&text))).unwrap();
        if last["status"] != "failed" {
            assert_eq!(last, unary, "{}", path.display());
        }
    }
}

/// Cuts plain texts in two, so that nothing but the chunks is different.
fn cut(chunk: GenerateContentResponse, at: usize) -> Vec<GenerateContentResponse> {
    let part =
        chunk.candidates.first().and_then(|one| one.content.as_ref()).map(|content| &content.parts[..]);
    let Some([Part { data: Some(Data::Text(text)), thought, thought_signature, .. }]) = part else {
        return vec![chunk];
    };
    let cut = (0..=text.len().min(at)).rev().find(|cut| text.is_char_boundary(*cut)).unwrap_or(0);
    let (before, _) = text.split_at(cut);
    if before.is_empty() || !thought_signature.is_empty() {
        return vec![chunk];
    }
    let rest = text[cut..].to_owned();
    let piece = |text: String| Part { thought: *thought, ..Part::text(text) };
    let mut first = GenerateContentResponse::default();
    let content = Content { role: "model".to_owned(), parts: vec![piece(before.to_owned())] };
    first.candidates.push(crate::proto::gemini::Candidate { content: Some(content), ..Default::default() });
    let last = piece(rest);
    let mut second = chunk;
    second.candidates[0].content.as_mut().unwrap().parts[0] = last;
    vec![first, second]
}

proptest! {
    #[test]
    fn a_stream_is_the_same_however_its_texts_are_cut(case in any::<prop::sample::Index>(), cuts in prop::collection::vec(1usize..12, 1..20)) {
        let paths = cases(".chunks.json");
        let text = fs::read_to_string(case.get(&paths)).unwrap();
        let mut sizes = cuts.iter().cycle();
        let pieces = chunks(&text).into_iter().flat_map(|chunk| cut(chunk, *sizes.next().unwrap())).collect();
        prop_assert_eq!(seen(&events(pieces)), seen(&events(chunks(&text))));
    }
}
