//! The stream of Google's models: events with one chunk each, and errors in whatever form they come. Pure.

use std::sync::Arc;

use super::site::Site;
use super::{Inner, error};
use crate::domain::model::{ModelCause, ModelError};
use crate::model::chunks::{self, Out};
use crate::model::sse::{Frame, Frames};
use crate::proto::gemini::GenerateContentResponse;
use crate::proto::json::BadJson;

pub(super) struct Reader<S> {
    inner: Arc<Inner<S>>,
    frames: Frames,
    /// It was said why the answer ends.
    ended: bool,
    failed: bool,
}

impl<S: Site> Reader<S> {
    pub(super) fn new(inner: Arc<Inner<S>>) -> Self {
        Self { inner, frames: Frames::default(), ended: false, failed: false }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Out) {
        let was_whole = self.ended;
        let read = match frame {
            Frame::Data(data) => self.chunk(data).map(|chunk| vec![chunk]),
            Frame::Raw(raw) => self.raw(raw),
            Frame::TooLong => Err(self.broken("is longer than any answer could be")),
        };
        match read {
            Ok(chunks) => out.extend(chunks.into_iter().map(Ok)),
            // Some gateways have a word of their own behind the end, such as `[DONE]`.
            Err(error) if was_whole => tracing::debug!(%error, "left out behind a whole answer"),
            Err(error) => {
                self.failed = true;
                out.push_back(Err(error));
            }
        }
    }

    fn chunk(&mut self, data: &[u8]) -> Result<GenerateContentResponse, ModelError> {
        let chunk = self.inner.site.read(data).map_err(|bad| self.told(data, &bad))?;
        // An error is a message with an unknown member, and nothing else.
        if chunk.candidates.is_empty() && !chunk.extra.is_empty() && error::is_error(data) {
            return Err(self.inner.refusal(0, data, None));
        }
        self.ended |= chunk.candidates.iter().any(|candidate| !candidate.finish_reason.is_empty());
        self.ended |= chunk.prompt_feedback.as_ref().is_some_and(|said| !said.block_reason.is_empty());
        Ok(chunk)
    }

    /// Without the frame of an event: an error, or all chunks in one list from a server that knows no events.
    fn raw(&mut self, raw: &[u8]) -> Result<Vec<GenerateContentResponse>, ModelError> {
        if error::is_error(raw) {
            return Err(self.inner.refusal(0, raw, None));
        }
        let listed: Result<Vec<&serde_json::value::RawValue>, _> = serde_json::from_slice(raw);
        match listed {
            Ok(listed) => listed.into_iter().map(|one| self.chunk(one.get().as_bytes())).collect(),
            Err(_) => self.chunk(raw).map(|chunk| vec![chunk]),
        }
    }

    fn told(&self, data: &[u8], bad: &BadJson) -> ModelError {
        match error::is_error(data) {
            true => self.inner.refusal(0, data, None),
            false => self.inner.unreadable(bad),
        }
    }

    fn broken(&self, what: &str) -> ModelError {
        ModelError::new(ModelCause::Broken, format!("the answer of {} {what}", self.inner.site.name()))
    }
}

impl<S: Site> chunks::Reader for Reader<S> {
    fn push(&mut self, bytes: &[u8], out: &mut Out) {
        let mut frames = std::mem::take(&mut self.frames);
        frames.read(bytes, &mut |frame| self.frame(frame, out));
        self.frames = frames;
    }

    fn is_whole(&self) -> bool {
        self.ended
    }

    fn finish(&mut self, out: &mut Out) {
        let mut frames = std::mem::take(&mut self.frames);
        frames.finish(&mut |frame| self.frame(frame, out));
        if !self.ended && !self.failed {
            out.push_back(Err(self.broken("was cut off")));
        }
    }
}
