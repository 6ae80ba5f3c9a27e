//! `/stats`: what the context has cost so far.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, described};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::{SlashCommand, ToolCallStatus};
use crate::proto::task::task_event::Event;

pub(super) struct Stats;

#[derive(Default)]
struct Sums {
    tasks: usize,
    answers: usize,
    input: i64,
    output: i64,
    thinking: i64,
    cached: i64,
    succeeded: usize,
    failed: usize,
    cancelled: usize,
}

#[async_trait]
impl Slash for Stats {
    fn about(&self) -> SlashCommand {
        described("stats", "Sums up tokens, answers and tool calls of this context.")
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let mut sums = Sums::default();
        for task in desk.journals().await? {
            sums.tasks += 1;
            task.iter().filter_map(|event| event.event.as_ref()).for_each(|event| sums.add(event));
        }
        let Sums { tasks, answers, input, output, thinking, cached, succeeded, failed, cancelled } = sums;
        Ok(Does::Says(format!(
            "Tasks: {tasks}\nAnswers of the model: {answers}\nTokens: {input} in ({cached} cached), {output} out, \
             {thinking} thinking\nTool calls: {succeeded} succeeded, {failed} failed, {cancelled} cancelled"
        )))
    }
}

impl Sums {
    fn add(&mut self, event: &Event) {
        match event {
            Event::Usage(usage) => {
                self.answers += 1;
                self.input += usage.input_tokens;
                self.output += usage.output_tokens;
                self.thinking += usage.thinking_tokens;
                self.cached += usage.cached_tokens;
            }
            Event::ToolCall(call) => match call.status() {
                ToolCallStatus::Succeeded => self.succeeded += 1,
                ToolCallStatus::Failed => self.failed += 1,
                ToolCallStatus::Cancelled => self.cancelled += 1,
                _ => {}
            },
            _ => {}
        }
    }
}
