//! Bounds, with a clock that stands still unless it is moved.

use std::sync::Mutex;

use async_trait::async_trait;
use tokio::time::advance;

use super::*;
use crate::domain::error::retry_delay;
use crate::domain::model::{Chunks, ModelCause, ModelError};
use crate::proto::gemini::{Model, UsageMetadata};
use crate::proto::vendor;

fn who() -> Principal {
    Principal::named("team")
}

fn guard(requests: Option<u32>, tokens: Option<u32>, models: &[&str]) -> Guard {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    Guard::new([(who(), Allowance { models, requests, tokens })], None)
}

fn asking(text: &str) -> GenerateContentRequest {
    let json = format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"{text}"}}]}}]}}"#);
    let request = vendor::decode::<GenerateContentRequest>(json.as_bytes()).unwrap();
    GenerateContentRequest { model: "gemini-x".to_owned(), ..request }
}

fn refused(guard: &Guard, text: &str) -> (String, Duration) {
    let error = guard.admit(&who(), &asking(text)).unwrap_err();
    assert_eq!(error.cause(), Cause::RateLimited);
    let wait = retry_delay(&error.clone().into()).unwrap();
    (error.to_string(), wait)
}

fn remaining(guard: &Guard) -> [Option<u32>; 2] {
    guard.holders[&who()].levels().map(|level| level.map(|level| level.remaining))
}

#[test]
fn only_listed_models_are_allowed_and_others_have_no_bounds() {
    let guard = guard(None, None, &["gemini-*"]);
    assert!(guard.allow(&who(), "gemini-3").is_ok());
    let error = guard.allow(&who(), "gpt-4o").unwrap_err();
    assert_eq!(error.cause(), Cause::ModelNotAllowed);
    assert_eq!(error.to_string(), "the key `team` may not ask the model `gpt-4o`, only gemini-*");
    assert!(guard.allow(&Principal::local(), "gpt-4o").is_ok());
    let named = GenerateContentRequest { model: "gpt-4o".to_owned(), ..asking("a") };
    assert_eq!(guard.admit(&who(), &named).unwrap_err().cause(), Cause::ModelNotAllowed);
}

#[tokio::test(start_paused = true)]
async fn requests_run_out_and_come_back_exactly_when_it_was_said() {
    let guard = guard(Some(2), None, &[]);
    let kept = [guard.admit(&who(), &asking("a")).unwrap(), guard.admit(&who(), &asking("a")).unwrap()];
    let (told, wait) = refused(&guard, "a");
    assert_eq!(told, "the key `team` has 2 requests in a minute, and they are used up; try again in 30 s");
    assert_eq!(wait, Duration::from_secs(30));
    drop(kept);
    advance(Duration::from_millis(29_999)).await;
    refused(&guard, "a");
    advance(Duration::from_millis(1)).await;
    assert!(guard.admit(&who(), &asking("a")).is_ok());
    for _ in 0..9 {
        assert!(guard.admit(&Principal::local(), &asking("a")).is_ok());
    }
}

fn said(json: &str) -> crate::proto::gemini::GenerateContentResponse {
    vendor::decode(json.as_bytes()).unwrap()
}

const TEXT: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"0123456789abcdef"}]}}],"usageMetadata":{"promptTokenCount":6}}"#;
const LAST: &str = r#"{"candidates":[{"content":{"parts":[{"text":"!"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":20,"thoughtsTokenCount":30}}"#;
const TOTAL: &str = r#"{"candidates":[],"usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":20,"totalTokenCount":77}}"#;

#[tokio::test(start_paused = true)]
async fn tokens_are_thought_first_and_counted_behind() {
    // 40 letters are thought to be 10 tokens.
    let question = "q".repeat(40);
    for (chunks, used) in [
        // Nobody answered.
        (&[][..], 0),
        // Left in the middle: the question, and 16 letters.
        (&[TEXT], 14),
        (&[TEXT, LAST], 56),
        // What comes behind the end still counts.
        (&[TEXT, LAST, TOTAL], 77),
    ] {
        let guard = guard(None, Some(100), &[]);
        let mut spending = guard.admit(&who(), &asking(&question)).unwrap();
        assert_eq!(remaining(&guard), [None, Some(90)]);
        chunks.iter().for_each(|chunk| spending.see(&said(chunk)));
        drop(spending);
        assert_eq!(remaining(&guard), [None, Some(100 - used)], "{chunks:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_used_more_than_there_was_waits_for_it() {
    let guard = guard(Some(60), Some(60), &[]);
    let mut spending = guard.admit(&who(), &asking("abcd")).unwrap();
    let usage = UsageMetadata { total_token_count: 90, ..UsageMetadata::default() };
    let mut last = said(LAST);
    last.usage_metadata = Some(usage);
    spending.see(&last);
    drop(spending);
    let (told, wait) = refused(&guard, "abcd");
    assert_eq!(wait, Duration::from_secs(31));
    assert!(told.contains("60 tokens in a minute"), "{told}");
    // The request that was refused took none.
    assert_eq!(remaining(&guard), [Some(59), Some(0)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_asked_after_all_costs_nothing() {
    let guard = guard(Some(5), Some(100), &[]);
    guard.admit_bytes(&who(), "m", &[b'x'; 80]).unwrap().cancel();
    assert_eq!(remaining(&guard), [Some(5), Some(100)]);
    let mut embedded = guard.admit_bytes(&who(), "m", &[b'x'; 80]).unwrap();
    embedded.asked();
    drop(embedded);
    assert_eq!(remaining(&guard), [Some(4), Some(80)]);
}

#[test]
fn pictures_count_as_pictures_and_not_as_letters() {
    let body = format!(r#"{{"data":"{}","text":"hello"}}"#, "A".repeat(1_000_000));
    assert_eq!(size::of_bytes(body.as_bytes()), 258 + 5);
}

#[derive(Default)]
struct Listing(Mutex<usize>);

#[async_trait]
impl Backend for Listing {
    fn stream(&self, _: GenerateContentRequest) -> Chunks {
        Box::pin(futures::stream::empty())
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        let mut times = self.0.lock().unwrap();
        *times += 1;
        match *times {
            1 => Ok(vec![Model { name: "listed".to_owned(), ..Model::default() }]),
            3.. => Ok(vec![Model { name: "new".to_owned(), ..Model::default() }]),
            _ => Err(ModelError::new(ModelCause::Unavailable, "down")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_nobody_knows_are_refused_where_that_is_set() {
    let backend = Listing::default();
    let guard = Guard::new([], Some(Arc::new(|name: &str| name.starts_with("gpt-"))));
    for (name, known) in [("gpt-4o", true), ("listed", true), ("other", false), ("", false)] {
        let checked = guard.check(&backend, &who(), name).await;
        assert_eq!(checked.is_ok(), known, "{name}");
    }
    assert_eq!(guard.check(&backend, &who(), "other").await.unwrap_err().cause(), Cause::ModelNotFound);
    assert_eq!(*backend.0.lock().unwrap(), 1, "the list is kept for a minute");
    advance(FRESH_ENOUGH).await;
    assert!(guard.check(&backend, &who(), "other").await.is_ok(), "without a list names are not checked");
    for (minutes, listed) in [(2, true), (11, false)] {
        advance(Duration::from_mins(minutes)).await;
        assert!(guard.check(&backend, &who(), "new").await.is_ok());
        assert_eq!(guard.check(&backend, &who(), "listed").await.is_ok(), listed, "{minutes}");
    }
    assert!(Guard::default().check(&backend, &who(), "other").await.is_ok());
}

const FRESH_ENOUGH: Duration = Duration::from_secs(61);
