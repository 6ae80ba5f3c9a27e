//! ProtoJSON against Python's json_format, over the corpus in `tests/golden/protojson`: what one writes, the
//! other reads. Differences are listed there, each with its reason.

mod corpus;
mod differences;

use agena::proto::json::{self, BadJson};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::probe::pb::Kinds;
use corpus::{Codec, DECODE, ENCODE, codec};
use differences::Outcome;

#[test]
fn a_null_value_stays_a_value() {
    let kinds: Kinds = json::decode(br#"{"value":null,"pickedValue":null,"values":[null]}"#).unwrap();
    let mut out = Vec::new();
    json::encode(&kinds, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"value":null,"values":[null],"pickedValue":null}"#);
}

#[test]
fn the_corpus_is_large_enough() {
    assert!(ENCODE.len() >= 150, "{} messages to print", ENCODE.len());
    assert!(DECODE.len() >= 250, "{} texts to read", DECODE.len());
}

#[test]
fn messages_print_as_python_prints_them() {
    let outcomes: Vec<Outcome<'_>> = ENCODE
        .iter()
        .map(|line| {
            let ours = (codec(&line.message).print)(&line.wire()).ok();
            let differs = !same_json(ours.as_ref(), line.json.as_ref());
            Outcome { case: &line.case, ours, python: line.json.clone(), differs }
        })
        .collect();
    differences::check(&differences::listed().encode, &outcomes);
}

#[test]
fn texts_read_as_python_reads_them() {
    let outcomes: Vec<Outcome<'_>> = DECODE
        .iter()
        .map(|line| {
            let codec = codec(&line.message);
            let ours = (codec.read)(&line.text()).ok();
            let python = line.wire().map(|wire| (codec.tidy)(&wire).unwrap_or(wire));
            let differs = ours != python;
            Outcome { case: &line.case, ours: shown(&codec, ours), python: shown(&codec, python), differs }
        })
        .collect();
    differences::check(&differences::listed().decode, &outcomes);
}

#[test]
fn refusals_name_the_field() {
    let nameless: Vec<&str> = DECODE
        .iter()
        .filter(|line| {
            let text = line.text();
            let refused = (codec(&line.message).read)(&text).err();
            refused.is_some_and(|bad| !names_its_field(&bad, &text))
        })
        .map(|line| line.case.as_str())
        .collect();
    assert!(nameless.is_empty(), "refused without the name of a field:\n{}", nameless.join("\n"));
}

proptest! {
    #![proptest_config(Config { cases: 20_000, failure_persistence: None, ..Config::default() })]

    /// Any text is either refused, with the name of a field, or read; and what was read can be printed and
    /// read again.
    #[test]
    fn mutated_texts_do_no_harm(
        line in any::<Index>(),
        other in any::<Index>(),
        cuts in prop::array::uniform4(any::<Index>()),
        kind in 0..5_u8,
        byte in prop::sample::select(b"{}[]\",:0-+.eE\\u\x00\x1f \xff\xedtn9".to_vec()),
    ) {
        let line = line.get(&DECODE[..]);
        let codec = codec(&line.message);
        let text = mutate(line.text(), &other.get(&DECODE[..]).text(), cuts, kind, byte);
        match (codec.read)(&text) {
            // Listed: messages that hold themselves, more than a hundred times.
            Ok(wire) if (codec.tidy)(&wire).is_none() => {}
            Ok(wire) => {
                let printed = (codec.print)(&wire).map_err(|e| TestCaseError::fail(e.to_string()))?;
                prop_assert!((codec.read)(printed.to_string().as_bytes()).is_ok());
            }
            Err(bad) => prop_assert!(names_its_field(&bad, &text), "{bad}"),
        }
    }
}

fn mutate(mut text: Vec<u8>, other: &[u8], cuts: [Index; 4], kind: u8, byte: u8) -> Vec<u8> {
    let [from, to] = ordered(cuts[0].index(text.len() + 1), cuts[1].index(text.len() + 1));
    let [start, end] = ordered(cuts[2].index(other.len() + 1), cuts[3].index(other.len() + 1));
    match kind {
        0 => text.truncate(from),
        1 => drop(text.splice(from..to, [])),
        2 => drop(text.splice(from..from, [byte])),
        3 => drop(text.splice(from..(from + 1).min(text.len()), [byte])),
        _ => drop(text.splice(from..to, other[start..end].iter().copied())),
    }
    text
}

fn ordered(a: usize, b: usize) -> [usize; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// The field is named wherever there is one: not in what is no JSON object, nor when the name itself is broken.
fn names_its_field(bad: &BadJson, text: &[u8]) -> bool {
    let broken_name = ["surrogate", "hex escape"].iter().any(|problem| bad.problem.contains(problem));
    !bad.field.is_empty() || broken_name || !is_object(text)
}

/// JSON at all, and such that there are fields to name.
fn is_object(text: &[u8]) -> bool {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'{')
        && std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// For people; what JSON cannot show is shown as bytes.
fn shown(codec: &Codec, wire: Option<Vec<u8>>) -> Option<Value> {
    wire.map(|wire| match (codec.tidy)(&wire) {
        Some(tidy) => (codec.print)(&tidy).unwrap_or_else(|_| format!("{wire:?}").into()),
        None => "nested deeper than prost reads".into(),
    })
}

/// Numbers compare by value: Python prints the numbers of a Struct as 1.0.
fn same_json(ours: Option<&Value>, python: Option<&Value>) -> bool {
    match (ours, python) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a == b || a.as_f64() == b.as_f64(),
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(Some(a), Some(b)))
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            a.len() == b.len() && a.iter().all(|(key, value)| same_json(Some(value), b.get(key)))
        }
        (ours, python) => ours == python,
    }
}
