//! The hands of a task: tools that look and tools that run, and what they print meanwhile. Performs what the batch has
//! decided and tells what happened; decides nothing itself. The runner owns one.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::StreamMap;
use tokio_util::sync::CancellationToken;

use super::call::Piece;
use crate::domain::tool::{Approval, Call, Outcome, Plan, Run, ToolError, Toolbox};

/// Pieces of output that may wait; then the tool does.
const PIECES: usize = 64;
/// Output that comes faster is put together: the more there is, the longer.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(1);
/// Bytes of one piece that is told, at the most.
const PIECE: usize = 64 * 1024;
/// Bytes of one call that are told while it runs, at the most. What comes then is read and let go, so that a flood
/// neither fills the journal nor holds up the tool; when it is over, the newest `PIECE` bytes are told.
const TOLD: usize = 1024 * 1024;
/// What a tool that is done may still have to say.
const LAST_WORDS: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct Hands {
    busy: JoinSet<(String, Done)>,
    outputs: StreamMap<String, Pin<Box<dyn Stream<Item = Piece> + Send>>>,
    /// Done, but perhaps not everything that it printed was told yet.
    done: VecDeque<(String, Done)>,
    stops: HashMap<String, CancellationToken>,
}

/// How a look or a run ended.
pub(super) enum Done {
    Planned(Result<Plan, ToolError>),
    Ran(Result<Outcome, ToolError>),
}

pub(super) enum Happened {
    Printed(String, Piece),
    Done(String, Done),
}

impl Hands {
    pub(super) fn plan(&mut self, tools: Arc<dyn Toolbox>, call: Call) {
        self.busy.spawn(async move {
            let planned = AssertUnwindSafe(tools.plan(&call)).catch_unwind().await;
            (call.id, Done::Planned(planned.unwrap_or_else(|_| Err(broken()))))
        });
    }

    pub(super) fn run(&mut self, tools: Arc<dyn Toolbox>, call: Call, approval: Approval) {
        let (output, pieces) = mpsc::channel(PIECES);
        let cancel = CancellationToken::new();
        self.outputs.insert(call.id.clone(), Printer::new(pieces).told());
        self.stops.insert(call.id.clone(), cancel.clone());
        self.busy.spawn(async move {
            let id = call.id.clone();
            let ran =
                AssertUnwindSafe(tools.run(Run { call, approval, output, cancel })).catch_unwind().await;
            (id, Done::Ran(ran.unwrap_or_else(|_| Err(broken()))))
        });
    }

    /// The tool stops when it can; that it has is told like any other end.
    pub(super) fn stop(&self, tool_call_id: &str) {
        if let Some(stop) = self.stops.get(tool_call_id) {
            stop.cancel();
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.busy.is_empty() && self.done.is_empty()
    }

    /// What a tool printed comes before its end. May be dropped and called again; waits for ever if it is idle.
    pub(super) async fn next(&mut self) -> Happened {
        loop {
            let told = self.done.iter().position(|(id, _)| !self.outputs.contains_key(id));
            if let Some((id, done)) = told.and_then(|at| self.done.remove(at)) {
                self.stops.remove(&id);
                return Happened::Done(id, done);
            }
            let (any_output, any_done) = (!self.outputs.is_empty(), !self.done.is_empty());
            tokio::select! {
                biased;
                Some((id, piece)) = self.outputs.next(), if any_output => return Happened::Printed(id, piece),
                Some(joined) = self.busy.join_next() => self.done.extend(joined.ok()),
                () = tokio::time::sleep(LAST_WORDS), if any_done => {
                    // Somebody else holds on to its output.
                    for (id, _) in &self.done {
                        self.outputs.remove(id);
                    }
                }
                else => std::future::pending().await,
            }
        }
    }
}

fn broken() -> ToolError {
    ToolError::new("unhandled_exception", "the tool broke down; the server's log says where")
}

/// What one tool prints, on its way to be told: the first piece at once, later ones put together and cut.
struct Printer {
    pieces: mpsc::Receiver<String>,
    /// Printed and not told: never much more than a piece and what the tool said at once.
    text: String,
    /// Bytes before `text` that were let go since something was told.
    skipped: u64,
    told: usize,
}

impl Printer {
    fn new(pieces: mpsc::Receiver<String>) -> Self {
        Self { pieces, text: String::new(), skipped: 0, told: 0 }
    }

    fn told(self) -> BoxStream<'static, Piece> {
        let next = |mut printer: Self| async move { printer.next().await.map(|piece| (piece, printer)) };
        futures::stream::unfold(self, next).boxed()
    }

    async fn next(&mut self) -> Option<Piece> {
        if self.told + PIECE > TOLD {
            return self.newest().await;
        }
        while self.text.is_empty() {
            self.text = self.pieces.recv().await?;
        }
        let wait = Duration::from_millis(self.told as u64 / 32).clamp(SOONEST, LATEST);
        let until = Instant::now() + if self.told == 0 { Duration::ZERO } else { wait };
        while self.text.len() < PIECE {
            // Ends early when the tool is done.
            let Ok(Some(more)) = tokio::time::timeout_at(until, self.pieces.recv()).await else { break };
            self.text.push_str(&more);
        }
        Some(self.cut())
    }

    /// The end of what is printed from here on, when there is no more.
    async fn newest(&mut self) -> Option<Piece> {
        while let Some(more) = self.pieces.recv().await {
            self.text.push_str(&more);
            if self.text.len() > 2 * PIECE {
                self.forget();
            }
        }
        self.forget();
        (!self.text.is_empty()).then(|| self.cut())
    }

    /// Lets go of all but a piece.
    fn forget(&mut self) {
        let from = boundary(&self.text, self.text.len().saturating_sub(PIECE), |at| at + 1);
        self.text.drain(..from);
        self.skipped += from as u64;
    }

    fn cut(&mut self) -> Piece {
        let rest = self.text.split_off(boundary(&self.text, PIECE.min(self.text.len()), |at| at - 1));
        let piece = Piece { skipped: self.skipped, text: std::mem::replace(&mut self.text, rest) };
        (self.skipped, self.told) = (0, self.told + piece.text.len());
        piece
    }
}

/// The place from `at` on, in steps, where a character begins or the text ends.
fn boundary(text: &str, mut at: usize, step: impl Fn(usize) -> usize) -> usize {
    while !text.is_char_boundary(at) {
        at = step(at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a tool that says each of these, and whether it is true.
    async fn told(said: Vec<String>) -> Vec<Piece> {
        let (output, pieces) = mpsc::channel(PIECES);
        let all = said.concat();
        let saying = tokio::spawn(async move {
            for text in said {
                output.send(text).await.unwrap();
            }
        });
        let told: Vec<Piece> = Printer::new(pieces).told().collect().await;
        saying.await.unwrap();
        let mut at = 0;
        for piece in &told {
            at += usize::try_from(piece.skipped).unwrap();
            assert_eq!(all.get(at..at + piece.text.len()), Some(piece.text.as_str()));
            at += piece.text.len();
            assert!(piece.text.len() <= PIECE);
        }
        assert_eq!(at, all.len(), "the end is always told");
        told
    }

    #[tokio::test(start_paused = true)]
    async fn all_of_a_little_is_told_and_head_and_end_of_a_flood() {
        let few = told(vec!["a".to_owned(), String::new(), "é".repeat(PIECE)]).await;
        assert!(few.iter().all(|piece| piece.skipped == 0), "nothing is left out of a little");
        for said in [vec!["é€x\n".repeat(7 * PIECE)], vec!["é€x\n".repeat(1000); 20_000]] {
            let flood = told(said).await;
            let gaps: Vec<bool> = flood.iter().map(|piece| piece.skipped > 0).collect();
            let (last, head) = gaps.split_last().unwrap();
            assert!(*last && !head.contains(&true), "{gaps:?}");
            assert!(flood.iter().map(|piece| piece.text.len()).sum::<usize>() <= TOLD + PIECE);
        }
        assert!(told(vec![]).await.is_empty());
    }
}
