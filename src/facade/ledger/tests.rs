//! Conversations, and what is found in them again.

use super::*;
use crate::proto::gemini::GenerateContentRequest;
use crate::proto::vendor;

fn read(contents: &str) -> Vec<Content> {
    let json = format!(r#"{{"contents":[{contents}]}}"#);
    vendor::decode::<GenerateContentRequest>(json.as_bytes()).unwrap().contents
}

fn call(id: &str, args: &str, signature: &str) -> String {
    let signed =
        if signature.is_empty() { String::new() } else { format!(r#","thoughtSignature":"{signature}""#) };
    format!(r#"{{"functionCall":{{"id":"{id}","name":"f","args":{args}}}{signed}}}"#)
}

fn model(parts: &str) -> String {
    format!(r#"{{"role":"model","parts":[{parts}]}}"#)
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#)
}

const TOLD: &str =
    r#"{"role":"user","parts":[{"functionResponse":{"id":"x","name":"f","response":{"output":"OUT"}}}]}"#;

/// What is remembered of an answer, part by part as it comes.
fn watched(before: &str, answer: &str) -> Vec<Signed> {
    let mut watch = Watch::new(Trail::of(&read(before)));
    for part in &read(answer)[0].parts {
        watch.see(0, part);
    }
    watch.signed
}

/// The signatures of all calls of a conversation after the ledger was asked, as `-` where there is none.
fn restored(ledger: &[Signed], conversation: &str) -> Vec<String> {
    let mut contents = read(conversation);
    for lost in lost(&contents.clone()) {
        let known = |key: &String| ledger.iter().rev().find(|signed| signed.keys.contains(key));
        if let Some(signed) = lost.keys.iter().find_map(known) {
            sign(&mut contents, &lost, signed.signature.clone());
        }
    }
    let parts = contents.iter().flat_map(|content| &content.parts);
    let calls = parts.filter(|part| matches!(part.data, Some(Data::FunctionCall(_))));
    let shown = |part: &Part| match part.thought_signature.as_str() {
        "" => "-".to_owned(),
        signature => signature.to_owned(),
    };
    calls.map(shown).collect()
}

#[test]
fn a_call_is_found_again_by_its_id_or_by_what_led_to_it() {
    let (ask, text, args) = (user("hi"), r#"{"text":"I look. "}"#, r#"{"b":1.0,"a":"x"}"#);
    let ledger = watched(&ask, &model(&format!("{text},{}", call("1", args, "S"))));
    for (conversation, expected) in [
        // As it was.
        (format!("{ask},{},{TOLD}", model(&format!("{text},{}", call("1", args, "")))), &["S"][..]),
        // The id is enough.
        (format!("{},{},{TOLD}", user("other"), model(&call("1", "{}", ""))), &["S"]),
        // Another id, or none; members in another order; numbers and spaces as another program prints them.
        (format!("{ask},{},{TOLD}", model(&format!("{text},{}", call("9", args, "")))), &["S"]),
        (
            format!(
                "{ask},{}",
                model(&format!(r#"{{"text":"I look."}},{}"#, call("", r#"{"a":"x","b":1}"#, "")))
            ),
            &["S"],
        ),
        // A thought is not said.
        (
            format!(
                r#"{ask},{}"#,
                model(&format!(r#"{{"text":"hm","thought":true}},{text},{}"#, call("9", args, "")))
            ),
            &["S"],
        ),
        // Something else led to it, or it is another one.
        (format!("{},{}", user("other"), model(&format!("{text},{}", call("9", args, "")))), &["-"]),
        (format!("{ask},{}", model(&call("9", args, ""))), &["-"]),
        (format!("{ask},{}", model(&format!("{text},{}", call("9", r#"{"b":2,"a":"x"}"#, "")))), &["-"]),
        // What is signed stays as it is.
        (format!("{ask},{}", model(&format!("{text},{}", call("1", args, "own")))), &["own"]),
    ] {
        assert_eq!(restored(&ledger, &conversation), expected, "{conversation}");
    }
}

#[test]
fn of_calls_made_together_only_the_first_is_signed() {
    let ask = user("hi");
    let together = format!("{},{}", call("1", "{}", "S"), call("2", "{}", ""));
    let ledger = watched(&ask, &model(&together));
    assert_eq!(ledger.len(), 1);
    for (first, second) in [("1", "2"), ("8", "9")] {
        let lost = format!("{},{}", call(first, "{}", ""), call(second, "{}", ""));
        assert_eq!(restored(&ledger, &format!("{ask},{},{TOLD}", model(&lost))), ["S", "-"]);
    }
    // The second of two is not taken for the first of another answer.
    let alone = watched(&ask, &model(&call("1", "{}", "S")));
    let more = watched(&format!("{ask},{}", model(&call("1", "{}", ""))), &model(&call("2", "{}", "T")));
    let ledger = [alone, more].concat();
    let both = format!("{},{}", call("8", "{}", ""), call("9", "{}", ""));
    assert_eq!(restored(&ledger, &format!("{ask},{}", model(&both))), ["S", "-"]);
    // Where the first has its signature nobody looks for others.
    let kept = format!("{},{}", call("1", "{}", "own"), call("2", "{}", ""));
    assert!(lost(&read(&format!("{ask},{}", model(&kept)))).is_empty());
}

#[test]
fn equal_calls_of_one_turn_are_told_apart() {
    let ask = user("hi");
    let one = model(&call("", "{}", ""));
    let first = watched(&ask, &model(&call("", "{}", "S1")));
    let second = watched(&format!("{ask},{one},{TOLD}"), &model(&call("", "{}", "S2")));
    let third = watched(&format!("{ask},{one},{TOLD},{one},{TOLD}"), &model(&call("", "{}", "S3")));
    let ledger = [first, second, third].concat();
    let conversation = format!("{ask},{one},{TOLD},{one},{TOLD},{one},{TOLD}");
    assert_eq!(restored(&ledger, &conversation), ["S1", "S2", "S3"]);
    // What a tool answered may have been made shorter.
    assert_eq!(restored(&ledger, &conversation.replace("OUT", "...")), ["S1", "S2", "S3"]);
    // A conversation that was cut at its beginning still is one.
    let later = format!("{},{},{conversation}", user("before"), model(r#"{"text":"done"}"#));
    assert_eq!(restored(&ledger, &later), ["S1", "S2", "S3"]);
}

#[test]
fn each_candidate_goes_its_own_way() {
    let mut watch = Watch::new(Trail::of(&read(&user("hi"))));
    let parts = read(&model(&format!(r#"{{"text":"a"}},{}"#, call("", "{}", "S"))));
    let [text, call] = &parts[0].parts[..] else { panic!("{parts:?}") };
    watch.see(0, text);
    watch.see(1, call);
    watch.see(0, call);
    let [second, first] = &watch.signed[..] else { panic!("{:?}", watch.signed) };
    assert_ne!(first.keys, second.keys);
}

#[test]
fn numbers_are_one_whatever_program_printed_them() {
    for (one, other, same) in [
        ("{\"a\":1}", "{ \"a\" : 1.0 }", true),
        ("{\"a\":100000}", "{\"a\":1e5}", true),
        // A client that has no whole numbers of this length prints the nearest.
        ("{\"a\":12345678901234567890}", "{\"a\":12345678901234567000}", true),
        ("{\"a\":\"\\u00e4\"}", "{\"a\":\"ä\"}", true),
        ("", "{}", true),
        ("{\"a\":1}", "{\"a\":\"1\"}", false),
        ("[1,[2]]", "[1,2]", false),
        ("no json", " no json ", true),
    ] {
        assert_eq!(canonical(one) == canonical(other), same, "{one} {other}");
    }
}
