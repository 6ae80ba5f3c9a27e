//! Conversions over the cases in `tests/golden/upstream/openai`: of `<case>.in.json`, a request of the hub, comes
//! `<case>.out.json` with what is sent and the paths of what is not; of `<case>.in.sse`, a stream, the chunks in `<case>.out.json`, one on each line.
//! `AGENA_GOLDEN=refresh` writes these anew.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agena::model::chunks::{Out, Reader as _};
use agena::model::openai::{Reader, Server, Wanted, Who, convert};
use agena::proto::gemini::GenerateContentRequest;
use agena::proto::vendor;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const CASES: &str = "tests/golden/upstream/openai";

fn who() -> Arc<Who> {
    Arc::new(Who { name: "the fake".to_owned(), credentials: "the key from the tests".to_owned() })
}

fn cases(ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    found.sort();
    assert!(found.len() >= 20, "{ending}: {} cases", found.len());
    found
}

fn check(ending: &str, run: impl Fn(&[u8]) -> String) {
    let refresh = std::env::var_os("AGENA_GOLDEN").is_some_and(|value| value == "refresh");
    let mut wrong = Vec::new();
    for path in cases(ending) {
        let out = PathBuf::from(path.to_str().unwrap().replace(ending, ".out.json"));
        let ours = run(&fs::read(&path).unwrap());
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

/// A request of the hub, whose text is kept as it stands.
#[derive(serde::Deserialize)]
struct Case<'a> {
    server: &'a str,
    answer: &'a str,
    #[serde(borrow)]
    request: &'a RawValue,
}

#[test]
fn every_request_comes_out_as_recorded() {
    check(".in.json", |text| {
        let case: Case<'_> = serde_json::from_slice(text).unwrap();
        let request: GenerateContentRequest = vendor::decode(case.request.get().as_bytes()).unwrap();
        let server = if case.server == "openai" { Server::OpenAi } else { Server::Compatible };
        let wanted = if case.answer == "streamed" { Wanted::Streamed } else { Wanted::Whole };
        let converted = convert(request, server, wanted);
        let request = printed(&converted.request).replace("},{\"role\"", "},\n {\"role\"");
        format!("{request}\n{}\n", json!(converted.dropped))
    });
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let (mut reader, mut out) = (Reader::new(who()), Out::new());
    pieces.into_iter().for_each(|piece| reader.push(piece, &mut out));
    reader.finish(&mut out);
    let lines = out.iter().map(|item| match item {
        Ok(chunk) => printed(chunk),
        Err(error) => json!({"cause": format!("{:?}", error.cause), "message": error.message}).to_string(),
    });
    lines.map(|line| line + "\n").collect()
}

#[test]
fn every_stream_comes_out_as_recorded() {
    check(".in.sse", |bytes| read([bytes]));
}

#[test]
fn no_case_is_left_over() {
    let files = fs::read_dir(CASES).unwrap().count();
    assert_eq!(files, 2 * (cases(".in.json").len() + cases(".in.sse").len()));
}

/// Behind an error comes nothing, and a finish reason is said once for each answer.
#[test]
fn every_stream_ends_once() {
    for path in cases(".in.sse") {
        let told = read([fs::read(&path).unwrap().as_slice()]);
        let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let failed = lines.iter().position(|line| line.get("cause").is_some());
        assert!(failed.is_none_or(|at| at + 1 == lines.len()), "{}", path.display());
        let mut ended: Vec<i64> = lines
            .iter()
            .flat_map(|line| line["candidates"].as_array().cloned().unwrap_or_default())
            .filter(|candidate| candidate.get("finishReason").is_some())
            .map(|candidate| candidate["index"].as_i64().unwrap_or_default())
            .collect();
        assert!(failed.is_some() || !ended.is_empty(), "{}: {told}", path.display());
        ended.sort_unstable();
        let before = ended.len();
        ended.dedup();
        assert_eq!(ended.len(), before, "{}", path.display());
    }
}

proptest! {
    #[test]
    fn a_stream_is_the_same_wherever_it_is_cut(case in any::<prop::sample::Index>(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40)) {
        let paths = cases(".in.sse");
        let bytes = fs::read(case.get(&paths)).unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        prop_assert_eq!(read(pieces), read([bytes.as_slice()]));
        prop_assert_eq!(read(bytes.chunks(1)), read([bytes.as_slice()]));
    }
}
