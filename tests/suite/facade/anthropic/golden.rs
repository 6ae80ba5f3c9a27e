//! Conversions over the cases in `tests/golden/anthropic`: of `<case>.in.json`, a version of the API and a request, comes
//! `<case>.hub.json` with what the model is asked and what was changed, or why it is refused; of `<case>.chunks.json`, a
//! request and the chunks of an answer, the stream in `<case>.out.sse` and the whole answer in `<case>.out.json`. Numbers in
//! their names are those of known bugs of other gateways. `AGENA_GOLDEN=refresh` writes these anew.

use std::fs;
use std::path::PathBuf;

use agena::domain::model::Gathered;
use agena::facade::anthropic::{Answer, convert};
use agena::facade::{Asked, Converted, Reply as _};
use agena::proto::anthropic::message_stream_event::Event;
use agena::proto::anthropic::{CreateMessageRequest, Message, MessageStreamEvent};
use agena::proto::gemini::part::Data;
use agena::proto::gemini::{GenerateContentResponse, Part};
use agena::proto::vendor;
use agena::transcode::vendor::Event as _;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const CASES: &str = "tests/golden/anthropic";

/// A request whose text is kept as it stands, and perhaps its answer.
#[derive(serde::Deserialize)]
struct Case<'a> {
    version: &'a str,
    #[serde(borrow)]
    request: &'a RawValue,
    #[serde(borrow, default)]
    chunks: Vec<&'a RawValue>,
}

impl Case<'_> {
    fn convert(&self) -> Result<Converted<Answer>, String> {
        let asked =
            Asked { id: "0123456789abcdef0123456789abcdef", now: 1_700_000_000, version: self.version };
        let request: CreateMessageRequest = vendor::decode(self.request.get().as_bytes()).unwrap();
        convert(request, &asked).map_err(|error| error.to_string())
    }

    fn chunks(&self) -> Vec<GenerateContentResponse> {
        self.chunks.iter().map(|chunk| vendor::decode(chunk.get().as_bytes()).unwrap()).collect()
    }
}

fn cases(ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    found.sort();
    assert!(found.len() >= 10, "{ending}: {} cases", found.len());
    found
}

fn check(ending: &str, result: &str, run: impl Fn(&Case<'_>) -> String) {
    let refresh = std::env::var_os("AGENA_GOLDEN").is_some_and(|value| value == "refresh");
    let mut wrong = Vec::new();
    for path in cases(ending) {
        let text = fs::read_to_string(&path).unwrap();
        let case = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (out, ours) = (PathBuf::from(path.to_str().unwrap().replace(ending, result)), run(&case));
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
    check(".in.json", ".hub.json", |case| {
        let Converted { request, report, remote, .. } = match case.convert() {
            Ok(converted) => converted,
            Err(error) => return format!("refused: {error}\n"),
        };
        // No JSON has it.
        let visible = request.generation_config.as_ref().and_then(|config| config.visible_output_tokens);
        let visible = visible.map(|most| format!("to be seen at most: {most}\n")).unwrap_or_default();
        let request = printed(&request).replace("},{\"role\"", "},\n {\"role\"");
        let changes = report.changes().iter().map(|change| format!("{change}\n"));
        let remote =
            remote.iter().map(|remote| format!("to be fetched for {}: {}\n", remote.field, remote.url));
        format!("{request}\n{visible}{}", changes.chain(remote).collect::<String>())
    });
}

/// All events, and the error that ended them.
fn events(
    case: &Case<'_>,
    chunks: Vec<GenerateContentResponse>,
) -> (Vec<MessageStreamEvent>, Option<String>) {
    let (mut reply, mut out) = (case.convert().unwrap().reply, Vec::new());
    for chunk in chunks {
        reply.push(chunk, &mut out).unwrap();
    }
    let failed = reply.finish(&mut out).err().map(|error| error.to_string());
    (out, failed)
}

fn answer(case: &Case<'_>, chunks: Vec<GenerateContentResponse>) -> Result<Message, String> {
    let mut gathered = Gathered::default();
    chunks.into_iter().for_each(|chunk| gathered.push(chunk));
    case.convert().unwrap().reply.answer(gathered.finish()).map_err(|error| error.to_string())
}

#[test]
fn every_stream_comes_out_as_recorded() {
    check(".chunks.json", ".out.sse", |case| {
        let (events, failed) = events(case, case.chunks());
        let mut out: String = events
            .iter()
            .map(|event| format!("event: {}\ndata: {}\n\n", event.name().unwrap(), printed(event)))
            .collect();
        out.extend(failed.map(|error| format!("failed: {error}\n")));
        out
    });
}

#[test]
fn every_answer_comes_out_as_recorded() {
    check(".chunks.json", ".out.json", |case| match answer(case, case.chunks()) {
        Ok(message) => printed(&message) + "\n",
        Err(error) => format!("failed: {error}\n"),
    });
}

#[test]
fn no_case_is_left_over() {
    let files = fs::read_dir(CASES).unwrap().count();
    assert_eq!(files, 2 * cases(".in.json").len() + 3 * cases(".chunks.json").len());
}

/// As the vendor's SDK puts events together; it knows nothing of how they were made.
fn accumulated(events: &[MessageStreamEvent]) -> Value {
    let mut message = json!(null);
    let mut inputs: Vec<String> = Vec::new();
    for event in events {
        let event: Value = serde_json::from_str(&printed(event)).unwrap();
        let at = event["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().unwrap();
                assert_eq!(content.len(), at, "blocks come one behind the other");
                content.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => grow(&mut message["content"][at], &event["delta"], &mut inputs[at]),
            "content_block_stop" if !inputs[at].is_empty() => {
                message["content"][at]["input"] = serde_json::from_str(&inputs[at]).unwrap();
            }
            "message_delta" => {
                for (name, value) in event["delta"].as_object().unwrap() {
                    message[name] = value.clone();
                }
                message["usage"] = event["usage"].clone();
            }
            _ => {}
        }
    }
    message
}

fn grow(block: &mut Value, delta: &Value, input: &mut String) {
    let more =
        |place: &Value, new: &Value| json!(format!("{}{}", place.as_str().unwrap(), new.as_str().unwrap()));
    match delta["type"].as_str().unwrap() {
        "text_delta" => block["text"] = more(&block["text"], &delta["text"]),
        "thinking_delta" => block["thinking"] = more(&block["thinking"], &delta["thinking"]),
        "signature_delta" => block["signature"] = delta["signature"].clone(),
        "input_json_delta" => *input += delta["partial_json"].as_str().unwrap(),
        "citations_delta" => match block["citations"].as_array_mut() {
            Some(citations) => citations.push(delta["citation"].clone()),
            None => block["citations"] = json!([delta["citation"]]),
        },
        other => panic!("{other}"),
    }
}

/// What holds for every stream, whatever it says.
fn well_formed(events: &[MessageStreamEvent], failed: bool) {
    let names: Vec<_> = events.iter().map(|event| event.name().unwrap()).collect();
    assert_eq!(names[..2], ["message_start", "ping"]);
    let (mut open, mut signed) = (None, false);
    for event in events {
        match event.event.as_ref().unwrap() {
            Event::ContentBlockStart(start) => {
                assert_eq!(open, None, "blocks never interleave");
                open = Some((start.index, printed(start.content_block.as_ref().unwrap())));
                signed = false;
            }
            Event::ContentBlockDelta(delta) => {
                assert_eq!(open.as_ref().unwrap().0, delta.index);
                let signature = printed(delta).contains("signature_delta");
                assert!(!signed, "nothing comes behind the signature");
                signed = signature;
            }
            Event::ContentBlockStop(stop) => {
                let (index, block) = open.take().unwrap();
                assert_eq!(index, stop.index);
                assert_eq!(signed, block.contains(r#""type":"thinking""#), "every thought is signed once");
            }
            Event::MessageDelta(_) => assert_eq!(open, None),
            _ => {}
        }
    }
    let ended = names.ends_with(&["message_delta", "message_stop"]);
    assert_eq!(ended, !failed);
    assert_eq!(names.iter().filter(|name| **name == "message_stop").count(), usize::from(!failed));
}

#[test]
fn every_stream_is_well_formed_and_says_what_the_whole_answer_says() {
    for path in cases(".chunks.json") {
        let text = fs::read_to_string(&path).unwrap();
        let case: Case<'_> = serde_json::from_str(&text).unwrap();
        let (events, failed) = events(&case, case.chunks());
        well_formed(&events, failed.is_some());
        match answer(&case, case.chunks()) {
            Ok(message) => {
                let whole: Value = serde_json::from_str(&printed(&message)).unwrap();
                assert_eq!(accumulated(&events), whole, "{}", path.display());
            }
            Err(error) => assert_eq!(Some(error), failed, "{}", path.display()),
        }
    }
}

/// Each chunk as chunks of one part, and each text in pieces of at most so many characters.
fn in_pieces(chunks: Vec<GenerateContentResponse>, most: usize) -> Vec<GenerateContentResponse> {
    let mut all = Vec::new();
    for mut chunk in chunks {
        let content = chunk.candidates.first_mut().and_then(|candidate| candidate.content.as_mut());
        let parts = content.map(|content| std::mem::take(&mut content.parts)).unwrap_or_default();
        for part in parts.into_iter().flat_map(|part| pieces(part, most)) {
            let mut small = GenerateContentResponse::default();
            small.candidates.extend(chunk.candidates.first().cloned());
            let candidate = &mut small.candidates[0];
            candidate.finish_reason.clear();
            candidate.grounding_metadata.clear();
            candidate.content.get_or_insert_default().parts = vec![part];
            all.push(small);
        }
        all.push(chunk);
    }
    all
}

/// A signature belongs to the end of what it signs.
fn pieces(part: Part, most: usize) -> Vec<Part> {
    let Some(Data::Text(text)) = &part.data else { return vec![part] };
    let letters: Vec<char> = text.chars().collect();
    let texts: Vec<String> = letters.chunks(most).map(|piece| piece.iter().collect()).collect();
    let last = texts.len().saturating_sub(1);
    let piece = |(index, text): (usize, &String)| {
        let thought_signature = if index == last { part.thought_signature.clone() } else { String::new() };
        Part { data: Some(Data::Text(text.clone())), thought_signature, ..part.clone() }
    };
    if texts.is_empty() { vec![part] } else { texts.iter().enumerate().map(piece).collect() }
}

proptest! {
    #[test]
    fn an_answer_is_the_same_however_it_is_cut(case in any::<prop::sample::Index>(), most in 1..20_usize) {
        let paths = cases(".chunks.json");
        let text = fs::read_to_string(case.get(&paths)).unwrap();
        let case: Case<'_> = serde_json::from_str(&text).unwrap();
        let (events_of_whole, failed) = events(&case, case.chunks());
        let (events_of_pieces, pieces_failed) = events(&case, in_pieces(case.chunks(), most));
        well_formed(&events_of_pieces, pieces_failed.is_some());
        prop_assert_eq!(&failed, &pieces_failed);
        if failed.is_none() {
            prop_assert_eq!(accumulated(&events_of_whole), accumulated(&events_of_pieces));
            let whole = answer(&case, in_pieces(case.chunks(), most)).unwrap();
            let whole: Value = serde_json::from_str(&printed(&whole)).unwrap();
            prop_assert_eq!(whole, accumulated(&events_of_pieces));
        }
    }
}
