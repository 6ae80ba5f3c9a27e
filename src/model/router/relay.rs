//! Bytes on their way: who takes them, and what they came to. What passes is not read, but for its last bytes, which say what
//! it took.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use http::HeaderMap;
use http::header::RETRY_AFTER;
use serde_json::Deserializer;

use super::{Meter, Router, Trip};
use crate::domain::model::{ModelCause, ModelError, Relay, Relayed, Verb};
use crate::proto::gemini::{Candidate, GenerateContentResponse, UsageMetadata};
use crate::proto::vendor;

/// What a last chunk says of tokens lies in so many bytes.
const TAIL: usize = 64 << 10;
const USAGE: &[u8] = b"\"usageMetadata\"";
const FINISH: &[u8] = b"\"finishReason\"";

/// A body that names the model once more cannot be asked of another one as it is.
fn names_its_model(verb: Verb) -> bool {
    matches!(verb, Verb::Count | Verb::Embed | Verb::BatchEmbed)
}

impl Router {
    /// None if somebody on the way does not take bytes: then the typed way goes on from there.
    pub(super) async fn pass(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        let several = !self.now().table.names.way(&relay.model, None).arm.is_empty();
        // Only the beginning of the conversation tells the arm.
        let read = several.then(|| vendor::decode(&relay.body).ok()).flatten();
        let mut trip = self.trip(&relay.model, read.as_ref());
        let mut last = None;
        while let Some((backend, model, mut meter)) = trip.next() {
            let other = Relay { model, ..relay.clone() };
            let fits = other.model == relay.model || !names_its_model(relay.verb);
            let passed = if fits { backend.relay(&other).await } else { None };
            let Some(passed) = passed else {
                meter.forget();
                return None;
            };
            let (error, passed) = match begun(passed).await {
                Ok(answer) => {
                    trip.arrived();
                    return Some(Ok(metered(answer, meter)));
                }
                Err(refused) => *refused,
            };
            meter.failed(&error);
            last = Some(passed);
            if !goes_on(&mut trip, &error) {
                break;
            }
        }
        last
    }
}

/// What is wrong with the request is wrong everywhere.
fn goes_on(trip: &mut Trip, error: &ModelError) -> bool {
    matches!(error.cause, ModelCause::Limited | ModelCause::Unavailable) && trip.goes_on(error)
}

/// Why it is no answer, and what is told if nobody else answers.
type Refused = (ModelError, Result<Relayed, ModelError>);

/// With its first byte, unless it failed before.
async fn begun(passed: Result<Relayed, ModelError>) -> Result<Relayed, Box<Refused>> {
    let mut answer = match passed {
        Ok(answer) if answer.status < 400 => answer,
        Ok(answer) => return Err(Box::new((refusal(answer.status, &answer.headers), Ok(answer)))),
        Err(error) => return Err(Box::new((error.clone(), Err(error)))),
    };
    match answer.body.next().await {
        Some(Err(error)) => Err(Box::new((error.clone(), Err(error)))),
        first => {
            answer.body = stream::iter(first).chain(answer.body).boxed();
            Ok(answer)
        }
    }
}

fn refusal(status: u16, headers: &HeaderMap) -> ModelError {
    let cause = match status {
        429 => ModelCause::Limited,
        500.. => ModelCause::Unavailable,
        401 | 403 => ModelCause::Denied,
        404 => ModelCause::NotFound,
        _ => ModelCause::Invalid,
    };
    let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let error = ModelError::new(cause, format!("status {status}"));
    ModelError { retry_after: after.map(Duration::from_secs), ..error }
}

fn metered(answer: Relayed, meter: Meter) -> Relayed {
    let body = Passing { body: answer.body, meter, tail: Vec::new() }.boxed();
    Relayed { body, ..answer }
}

/// Tells what it came to when it ends, or is left.
struct Passing {
    body: BoxStream<'static, Result<Bytes, ModelError>>,
    meter: Meter,
    tail: Vec<u8>,
}

impl Passing {
    fn keep(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        // Cut only now and then.
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }
}

impl Stream for Passing {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let came = ready!(this.body.poll_next_unpin(cx));
        match &came {
            Some(Ok(bytes)) => {
                this.meter.began();
                this.keep(bytes);
            }
            Some(Err(error)) => this.meter.failed(error),
            None => this.meter.ended(),
        }
        Poll::Ready(came)
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.meter.last_words(&last_words(&self.tail));
    }
}

/// Of the bytes that came last: what it took, and whether it was said why it ends.
fn last_words(tail: &[u8]) -> GenerateContentResponse {
    let usage = memchr::memmem::rfind(tail, USAGE).and_then(|at| {
        let value = tail[at + USAGE.len()..].trim_ascii_start().strip_prefix(b":")?;
        Deserializer::from_slice(value).into_iter::<UsageMetadata>().next()?.ok()
    });
    let finish_reason = match memchr::memmem::rfind(tail, FINISH) {
        Some(_) => "STOP".to_owned(),
        None => String::new(),
    };
    let candidates = vec![Candidate { finish_reason, ..Candidate::default() }];
    GenerateContentResponse { usage_metadata: usage, candidates, ..GenerateContentResponse::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_say_what_it_took() {
        let one = r#"{"candidates":[{"content":{"parts":[{"text":"\"usageMetadata\":{\"promptTokenCount\":9}"}]}}],"usageMetadata":{"promptTokenCount":1}}"#;
        let two = r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata" : {"promptTokenCount":2,"x":{"y":1}},"modelVersion":"m"}"#;
        for (text, tokens, ended) in [
            (format!("data: {one}\r\n\r\ndata: {two}\r\n\r\n"), 2, true),
            (format!("[{one},\r\n{two}]"), 2, true),
            (two.to_owned(), 2, true),
            (one.to_owned(), 1, false),
            (r#"{"totalTokens":5}"#.to_owned(), 0, false),
            (r#"{"usageMetadata":{"promptTok"#.to_owned(), 0, false),
        ] {
            let last = last_words(text.as_bytes());
            assert_eq!(last.usage_metadata.unwrap_or_default().prompt_token_count, tokens, "{text}");
            assert_eq!(!last.candidates[0].finish_reason.is_empty(), ended, "{text}");
        }
    }
}
