//! What is blotted out, and what is not.

use std::time::Duration;

use super::*;
use crate::domain::model::{ModelCause, ModelError};
use crate::proto::gemini::GenerateContentRequest;

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";

fn blot() -> Blot {
    Blot::new(&["the key of \"the\"\nhouse", "", "t0ken678", "tools", "k"].map(Secret::new))
}

#[test]
fn shapes() {
    let run = |length: usize| "0aB".repeat(length).chars().take(length).collect::<String>();
    for (text, left) in [
        (format!("key=AIza{}!", run(35)), "key=[secret]!"),
        (format!("(ya29.{})", run(40)), "([secret])"),
        (format!("sk-proj-{} and sk-{}", run(40), run(20)), "[secret] and [secret]"),
        (format!("ghp_{0} gho_{0} ghs_{0}", run(36)), "[secret] [secret] [secret]"),
        (format!("x github_pat_{}", run(60)), "x [secret]"),
        (format!("glpat-{}", run(20)), "[secret]"),
        ("xoxb-1234567890-abc xoxp-1234567890".to_owned(), "[secret] [secret]"),
        ("AKIA0123456789ABCDEF".to_owned(), "[secret]"),
        (format!("Authorization: Bearer {}.x/y==", run(20)), "Authorization: Bearer [secret]"),
        (format!("authorization: bearer {}", run(20)), "authorization: bearer [secret]"),
        (format!("a {JWT}."), "a [secret]."),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb".to_owned(),
            "a\n[secret]\nb",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIEv".to_owned(), "[secret]"),
        (format!("a\\nghp_{}\\n", run(36)), "a\\n[secret]\\n"),
        ("the key of \"the\"\nhouse".to_owned(), "[secret]"),
        (r#"the key of \"the\"\nhouse"#.to_owned(), "[secret]"),
        (r#"the key of \\\"the\\\"\\nhouse"#.to_owned(), "[secret]"),
        ("not0ken6780".to_owned(), "no[secret]0"),
    ] {
        assert_eq!(blot().text(&text), left, "{text}");
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for text in [
        "AIza",
        "AIza-is-how-keys-of-google-begin-as-everybody-knows",
        "ask-me-about-0123456789012345678901234567890",
        "task-0123456789012345678901234567890",
        "sk-learn",
        "risk-based-decision-making-in-2024",
        "ghp_short1",
        "Bearer of bad news",
        "bearer authentication-is-required",
        "eyJhbGciOiJIUzI1NiJ9",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "-----BEGIN a PRIVATE KEY-----",
        "",
    ] {
        assert_eq!(blot().text(text), text);
    }
}

fn take(chunks: &[&str]) -> Take {
    let chunk = |json: &&str| (Duration::ZERO, vendor::decode(json.as_bytes()).unwrap());
    Take { chunks: chunks.iter().map(chunk).collect(), ..Take::of(&GenerateContentRequest::default()) }
}

fn printed(take: Take) -> Vec<String> {
    let print = |chunk: &GenerateContentResponse| {
        let mut out = Vec::new();
        vendor::encode(chunk, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    take.chunks.iter().map(|(_, chunk)| print(chunk)).collect()
}

#[test]
fn pieces_do_not_hide_a_secret() {
    let say = |text: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}}}]}}"#);
    let think = r#"{"candidates":[{"content":{"parts":[{"text":"AIza","thought":true}]}}]}"#;
    let pieces =
        [say("It is AI"), think.to_owned(), say("za0123456789"), say("0123456789"), say("01234567890, see?")];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let left = [say("It is [secret]"), think.to_owned(), say(""), say(""), say(", see?")];
    assert_eq!(printed(blot().take(take(&pieces))), left);
}

#[test]
fn no_member_hides_a_secret() {
    for (chunk, left) in [
        (
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a": 1.10, "t0ken678": ["xt0ken678x\n", "\ud800 t0ken678"]}}}]}}],"n":1.50}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a": 1.10, "t0ken678": ["x[secret]x\n", "\ud800 [secret]"]}}}]}}],"n":1.50}"#,
        ),
        (
            r#"{"candidates":[{"groundingMetadata":{"q":"the key of \"the\"\nhouse"}}],"new":{"a\"t0ken678" : "{\"k\":\"\\nt0ken678\"}"}}"#,
            r#"{"candidates":[{"groundingMetadata":{"q":"[secret]"}}],"new":{"a\"t0ken678" : "{\"k\":\"\\n[secret]\"}"}}"#,
        ),
        (
            r#"{"modelVersion":"t0ken678","responseId":"r"}"#,
            r#"{"modelVersion":"[secret]","responseId":"r"}"#,
        ),
        (r#"{"modelVersion":"m", "n": {"a": [1.0,  2]}}"#, r#"{"modelVersion":"m","n":{"a": [1.0,  2]}}"#),
    ] {
        assert_eq!(printed(blot().take(take(&[chunk]))), [left]);
    }
    let error = ModelError::new(ModelCause::Denied, "t0ken678 is wrong");
    let take = Take {
        said: "use t0ken678".to_owned(),
        end: (Duration::ZERO, Outcome::Failed(error)),
        ..Take::of(&GenerateContentRequest::default())
    };
    let rule = blot().take(take).rule();
    assert!(rule.contains("use [secret]") && rule.contains("[secret] is wrong"), "{rule}");
}

/// Any value of a header counts as a secret, and may be a word.
#[test]
fn words_and_names_stay() {
    let chunk = r#"{"candidates":[{"content":{"parts":[{"text":"use tools, ok?"}]},"t0ken678" :"k"}],"usageMetadata":{"promptTokenCount":1}}"#;
    assert_eq!(printed(blot().take(take(&[chunk]))), [chunk.replace(" :", ":")]);
    let names = Blot::new(&["candidates", "promptTokenCount"].map(Secret::new));
    let chunk =
        r#"{"candidates":[{"index":1}],"usageMetadata":{"promptTokenCount":1},"modelVersion":"candidates"}"#;
    assert_eq!(printed(names.take(take(&[chunk]))), [chunk.replace("\"candidates\"}", "\"[secret]\"}")]);
}

#[test]
fn what_is_added_is_known_once_and_beside_the_old() {
    let blot = Blot::new(&[Secret::new("old-secret")]);
    for _ in 0..2 {
        blot.add(&["new-secret", "old-secret", "word"].map(Secret::new));
    }
    assert_eq!(blot.text("old-secret, new-secret, word"), "[secret], [secret], word");
    assert_eq!(blot.secrets.read().unwrap().len(), 2);
}

#[test]
fn nothing_shows_what_is_to_be_hidden() {
    assert!(!format!("{:?}", blot()).contains("house"));
}
