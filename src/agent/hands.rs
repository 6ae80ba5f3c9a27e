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

use crate::domain::tool::{Approval, Call, Outcome, Plan, Run, ToolError, Toolbox};

/// Pieces of output that may wait; then the tool does.
const PIECES: usize = 64;
/// Output that comes faster is put together: the more there is, the longer.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(1);
/// What a tool that is done may still have to say.
const LAST_WORDS: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct Hands {
    busy: JoinSet<(String, Done)>,
    outputs: StreamMap<String, Pin<Box<dyn Stream<Item = String> + Send>>>,
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
    Printed(String, String),
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
        self.outputs.insert(call.id.clone(), Box::pin(gathered(pieces)));
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
                Some((id, text)) = self.outputs.next(), if any_output => return Happened::Printed(id, text),
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

/// The first piece at once, later ones put together.
fn gathered(pieces: mpsc::Receiver<String>) -> BoxStream<'static, String> {
    futures::stream::unfold((pieces, 0), |(mut pieces, total)| async move {
        let mut text = pieces.recv().await?;
        let wait = Duration::from_millis(total as u64 / 32).clamp(SOONEST, LATEST);
        let until = Instant::now() + if total == 0 { Duration::ZERO } else { wait };
        // Ends early when the tool is done.
        while let Ok(Some(more)) = tokio::time::timeout_at(until, pieces.recv()).await {
            text.push_str(&more);
        }
        let total = total + text.len();
        Some((text, (pieces, total)))
    })
    .boxed()
}
