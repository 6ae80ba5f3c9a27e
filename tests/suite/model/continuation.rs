//! Answers that are longer than one request may give.

use std::time::Duration;

use agena::domain::model::Backend;
use agena::model::continued::Continued;
use agena::model::patient::Policy;
use serde_json::{Value, json};

use super::{api, heard, request, shared, words};
use crate::kit::upstream::{Reply, Step, Upstream, chunk};

fn continued(url: &str) -> Continued {
    let millis = Duration::from_millis;
    let policy =
        Policy { patience: millis(900), first: millis(10), longest: millis(20), broken: 2, tells: false };
    Continued::new(shared(api(url)), policy)
}

/// A piece of an answer, and what it took; with a token, there is more.
fn piece(text: &str, token: &str, output: i32) -> Value {
    let mut piece = chunk(json!([{"text": text}]), if token.is_empty() { "STOP" } else { "CONTINUATION" });
    if !token.is_empty() {
        piece["candidates"][0]["continuationToken"] = token.into();
    }
    piece["usageMetadata"] =
        json!({"promptTokenCount": 5, "candidatesTokenCount": output, "totalTokenCount": 5 + output});
    piece
}

#[tokio::test]
async fn the_rest_is_asked_for_until_there_is_none() {
    let upstream = Upstream::start([
        Reply::stream(&[chunk(json!([{"text": "one "}]), ""), piece("two ", "t1", 10)]),
        // The next request fails at first, and nothing is told twice.
        Reply::reset(),
        Reply::stream(&[piece("three ", "t2", 20)]),
        Reply::stream(&[piece("four", "", 30)]),
    ])
    .await;
    let (chunks, error) = heard(&continued(&upstream.url()), request("count")).await;
    assert_eq!((words(&chunks).as_str(), error), ("one two three four", None));
    let ends: Vec<&str> =
        chunks.iter().filter_map(|chunk| chunk["candidates"][0]["finishReason"].as_str()).collect();
    assert_eq!(ends, ["STOP"]);
    assert!(!json!(chunks).to_string().contains("continuationToken"));
    let usage = &chunks.last().unwrap()["usageMetadata"];
    assert_eq!((&usage["candidatesTokenCount"], &usage["promptTokenCount"]), (&json!(60), &json!(15)));
    let tokens: Vec<Value> =
        upstream.asked().iter().map(|asked| asked.json()["continuationToken"].clone()).collect();
    assert_eq!(tokens, [json!(null), json!("t1"), json!("t1"), json!("t2")]);
    let first = upstream.asked()[0].json();
    assert!(upstream.asked().iter().all(|asked| asked.json()["contents"] == first["contents"]));
}

#[tokio::test]
async fn whole_answers_go_on_too() {
    let upstream =
        Upstream::start([Reply::json(200, &piece("one ", "t1", 10)), Reply::stream(&[piece("two", "", 20)])])
            .await;
    let answer = continued(&upstream.url()).generate(&request("count")).await.unwrap();
    let answer = super::printed(&answer);
    assert_eq!(words(std::slice::from_ref(&answer)), "one two");
    assert_eq!(answer["usageMetadata"]["candidatesTokenCount"], json!(30));
}

#[tokio::test]
async fn whoever_goes_on_for_ever_is_stopped() {
    let upstream = Upstream::start([Reply::stream(&[piece("again ", "t", 1)])]).await;
    let (chunks, error) = heard(&continued(&upstream.url()), request("count")).await;
    assert_eq!((chunks.len(), upstream.asked().len(), error), (17, 17, None));
    assert_eq!(chunks.last().unwrap()["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[tokio::test]
async fn a_rest_that_cannot_be_had_is_an_error_behind_what_was_told() {
    let upstream =
        Upstream::start([Reply::stream(&[piece("one ", "t1", 10)]), Reply::open().then(Step::Reset)]).await;
    let (chunks, error) = heard(&continued(&upstream.url()), request("count")).await;
    assert_eq!((words(&chunks).as_str(), error.is_some()), ("one ", true));
}
