//! One answer of the model: the lines up to the next calls, as chunks in their time. What is said is decided before the
//! first chunk; only the waiting, and how often something goes wrong, is left to the stream.

use std::collections::VecDeque;

use futures::{StreamExt, stream};
use tokio::time::Instant;

use super::beat::{Beat, Beats};
use super::conversation::Conversation;
use super::fault::Times;
use super::line::Line;
use crate::domain::model::{Chunks, ModelError};
use crate::proto::gemini::GenerateContentResponse;

/// The lines of the answer that is due: behind each call, the tools speak first.
pub(super) fn due(lines: &[Line], answered: usize) -> &[Line] {
    lines.split_inclusive(Line::calls).nth(answered).unwrap_or_default()
}

pub(super) fn chunks(lines: Vec<Line>, conversation: &Conversation) -> Chunks {
    let mut beats = Beats::new(conversation);
    lines.into_iter().for_each(|line| beats.push(line));
    let playing = Playing { beats: beats.finish().into(), due: None };
    stream::unfold(playing, |mut playing| async move {
        let item = playing.next().await?;
        Some((item, playing))
    })
    .boxed()
}

struct Playing {
    beats: VecDeque<Beat>,
    /// Up to when all that was played so far has waited. Counted from the beginning, so that many short waits do not
    /// add up to more than they are.
    due: Option<Instant>,
}

impl Playing {
    async fn next(&mut self) -> Option<Result<GenerateContentResponse, ModelError>> {
        let mut due = *self.due.get_or_insert_with(Instant::now);
        while let Some(beat) = self.beats.pop_front() {
            match beat {
                Beat::Wait(time) => {
                    due += time;
                    self.due = Some(due);
                    tokio::time::sleep_until(due).await;
                }
                Beat::Chunk(chunk) => return Some(Ok(chunk)),
                Beat::Fail(error, times) if comes(times.as_ref()) => {
                    self.beats.clear();
                    return Some(Err(error));
                }
                Beat::Silence(times) if comes(times.as_ref()) => std::future::pending().await,
                Beat::Fail(..) | Beat::Silence(_) => {}
            }
        }
        None
    }
}

/// Without a number it always does.
fn comes(times: Option<&Times>) -> bool {
    times.is_none_or(Times::again)
}
