//! Bytes on their way: who takes them, and what they came to. What passes is not read, but for where it says what it took
//! and why it ends.

use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use http::HeaderMap;
use http::header::RETRY_AFTER;
use memchr::memmem::Finder;
use serde_json::Deserializer;

use super::{Meter, Router, Trip};
use crate::domain::model::{ModelCause, ModelError, Relay, Relayed, Verb};
use crate::proto::gemini::{Candidate, GenerateContentResponse, UsageMetadata};
use crate::proto::vendor;

/// What is said of tokens is no longer than this.
const LONGEST: usize = 8 << 10;
const USAGE: &[u8] = b"\"usageMetadata\"";
const FINISH: &[u8] = b"\"finishReason\"";
/// One byte less than the longer of the two.
const EDGE: usize = USAGE.len() - 1;
/// Made once: to make one takes longer than to search a chunk with it.
static FIND_USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(USAGE));
static FIND_FINISH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(FINISH));

/// A body that names the model once more cannot be asked of another one as it is.
fn names_its_model(verb: Verb) -> bool {
    matches!(verb, Verb::Count | Verb::Embed | Verb::BatchEmbed)
}

impl Router {
    /// None if somebody on the way does not take bytes: then the typed way goes on from there.
    pub(super) async fn pass(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        let several = self.now().table.names.spreads(&relay.model);
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
                Ok((first, answer)) => {
                    trip.arrived();
                    return Some(Ok(metered(first, answer, meter)));
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

/// With its first piece, unless it failed before.
async fn begun(passed: Result<Relayed, ModelError>) -> Result<(Option<Bytes>, Relayed), Box<Refused>> {
    let mut answer = match passed {
        Ok(answer) if answer.status < 400 => answer,
        Ok(answer) => return Err(Box::new((refusal(answer.status, &answer.headers), Ok(answer)))),
        Err(error) => return Err(Box::new((error.clone(), Err(error)))),
    };
    match answer.body.next().await.transpose() {
        Err(error) => Err(Box::new((error.clone(), Err(error)))),
        Ok(first) => Ok((first, answer)),
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

fn metered(first: Option<Bytes>, answer: Relayed, meter: Meter) -> Relayed {
    let body = Passing { first, body: answer.body, meter, heard: Heard::default() }.boxed();
    Relayed { body, ..answer }
}

/// Tells what it came to when it ends, or is left.
struct Passing {
    /// It was waited for.
    first: Option<Bytes>,
    body: BoxStream<'static, Result<Bytes, ModelError>>,
    meter: Meter,
    heard: Heard,
}

impl Stream for Passing {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let came = match this.first.take() {
            Some(first) => Some(Ok(first)),
            None => ready!(this.body.poll_next_unpin(cx)),
        };
        match &came {
            Some(Ok(bytes)) => {
                this.meter.began();
                this.heard.pass(bytes);
            }
            Some(Err(error)) => this.meter.failed(error),
            None => this.meter.ended(),
        }
        Poll::Ready(came)
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.meter.last_words(&self.heard.last_words());
    }
}

/// What is kept of bytes that pass: as much as tells what they came to.
#[derive(Default)]
struct Heard {
    /// From where it was last said what it took.
    usage: Vec<u8>,
    /// The last bytes, in which a name may have begun.
    edge: Vec<u8>,
    /// It was said why it ends.
    finished: bool,
}

impl Heard {
    fn pass(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(EDGE));
        self.edge.extend_from_slice(first);
        let texts = [bytes, &self.edge];
        self.finished = self.finished || texts.into_iter().any(|text| FIND_FINISH.find(text).is_some());
        let [whole, cut] = texts.map(|text| Some(&text[FIND_USAGE.find_iter(text).last()?..]));
        match (whole, cut) {
            (Some(whole), _) => begin(&mut self.usage, &[whole]),
            (None, Some(cut)) => begin(&mut self.usage, &[cut, rest]),
            (None, None) if self.usage.is_empty() => {}
            (None, None) => extend(&mut self.usage, bytes),
        }
        self.edge.extend_from_slice(&rest[rest.len().saturating_sub(EDGE)..]);
        self.edge.drain(..self.edge.len().saturating_sub(EDGE));
    }

    fn last_words(&self) -> GenerateContentResponse {
        let usage = self.usage.strip_prefix(USAGE).and_then(|rest| {
            let value = rest.trim_ascii_start().strip_prefix(b":")?;
            Deserializer::from_slice(value).into_iter::<UsageMetadata>().next()?.ok()
        });
        let finish_reason = if self.finished { "STOP".to_owned() } else { String::new() };
        let candidates = vec![Candidate { finish_reason, ..Candidate::default() }];
        GenerateContentResponse { usage_metadata: usage, candidates, ..GenerateContentResponse::default() }
    }
}

fn begin(usage: &mut Vec<u8>, pieces: &[&[u8]]) {
    usage.clear();
    pieces.iter().for_each(|piece| extend(usage, piece));
}

fn extend(usage: &mut Vec<u8>, bytes: &[u8]) {
    usage.extend_from_slice(&bytes[..bytes.len().min(LONGEST - usage.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_took_is_heard_wherever_reads_are_cut() {
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
            for size in 1..=text.len() {
                let mut heard = Heard::default();
                text.as_bytes().chunks(size).for_each(|piece| heard.pass(piece));
                let last = heard.last_words();
                let counted = last.usage_metadata.unwrap_or_default().prompt_token_count;
                assert_eq!(counted, tokens, "{text} in pieces of {size}");
                assert_eq!(!last.candidates[0].finish_reason.is_empty(), ended, "{text} in pieces of {size}");
            }
        }
    }
}
