//! Tools that print without end: what is kept of it is bounded, and what is left out is counted.

use agena::agent::mind::Options;
use agena::agent::policy::Mode;
use agena::proto::devtool::LiveOutput;
use agena::proto::task::TaskEvent;
use agena::proto::task::task_event::Event;
use prost::Message as _;

use super::kit::{Bench, script, shell};
use crate::kit::A2aServer;

/// What is told of one call while it runs, and of one piece.
const TOLD: usize = 1024 * 1024;
const PIECE: usize = 64 * 1024;

async fn journal(bench: &Bench, task: &str) -> Vec<TaskEvent> {
    let mut events: Vec<TaskEvent> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.sequence);
        let more = bench.server.store.events(&A2aServer::tester(), task, after, 100).await.unwrap();
        if more.is_empty() {
            return events;
        }
        events.extend(more);
    }
}

fn outputs(events: Vec<TaskEvent>) -> Vec<LiveOutput> {
    let output = |event| if let Some(Event::ToolOutput(output)) = event { Some(*output) } else { None };
    events.into_iter().filter_map(|event| output(event.event)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_does_not_fill_the_journal() {
    const BYTES: u64 = 50_000_000;
    let command =
        format!("head -c {BYTES} /dev/zero | tr '\\0' x | fold -w 99 | head -c {BYTES}; echo; echo end");
    let bench = Bench::with(&script(&[shell(&command)]), |mut setup| {
        setup.agent.options = Options { mode: Mode::Yolo, ..Options::default() };
        setup
    })
    .await;
    let heard = bench.talk().ask("go").await;
    assert_eq!(heard.state(), "completed");
    let events = journal(&bench, &heard.task()).await;
    let largest = events.iter().map(TaskEvent::encoded_len).max();
    assert!(largest < Some(128 * 1024), "{largest:?}");
    let outputs = outputs(events);
    let told: usize = outputs.iter().map(|output| output.text.len()).sum();
    assert!((PIECE..=TOLD + PIECE).contains(&told), "{told}");
    let mut end = 0;
    for output in &outputs {
        assert!(output.offset >= end, "{} after {end}", output.offset);
        end = output.offset + output.text.len() as u64;
    }
    assert_eq!(end, BYTES + 5, "what is left out is counted");
    assert!(outputs.last().unwrap().text.ends_with("\nend\n"), "the end is told");
    let shown = heard.calls().iter().any(|call| call["live_content"].to_string().contains("bytes left out"));
    assert!(shown, "who watches is told that something is left out");
}
