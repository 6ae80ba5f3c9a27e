//! Where the work on a task stands, folded from its journal: the conversation, the calls that are open, and how far the
//! turn has come. Pure. The runner folds what it records, and a task that is read back is folded the same way.

use super::batch::Batch;
use super::conversation::Conversation;
use super::loops::Loops;
use super::made::Made;
use crate::domain::tool::Declaration;
use crate::proto::devtool::ToolCall;
use crate::proto::gemini::Content;
use crate::proto::gemini::part::Data;
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;

#[derive(Debug, Clone, Default)]
pub struct Work {
    pub conversation: Conversation,
    /// The calls of the last answer.
    pub batch: Batch,
    /// The files that it has written.
    pub made: Made,
    /// What earlier tasks bring into this turn.
    pub brought: String,
    loops: Loops,
    /// The model was told in this turn that it goes in circles.
    nudged: bool,
    /// Answers of the model in this turn.
    answers: usize,
    /// Words were shown of an answer that is not remembered yet. Thoughts do not count: thinking twice harms nobody.
    partial: bool,
    /// No model works on this turn.
    scripted: bool,
    /// A slash command works on this turn.
    commands: bool,
    /// What its calls have come to, in their order.
    done: Vec<Done>,
    /// What the last request came to.
    tokens: i64,
}

/// A call of a slash command that has ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    pub call: ToolCall,
    /// What a model would have been told of it: a JSON object.
    pub answer: String,
}

/// What to make of a model that goes on and on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Fine,
    /// It goes in circles and should hear so.
    Nudge,
    /// It went on in circles, or took more steps than a turn has. The user decides.
    Pause(&'static str),
}

impl Work {
    pub fn after(contents: Vec<Content>) -> Self {
        Self { conversation: Conversation::after(contents), ..Self::default() }
    }

    pub fn fold(&mut self, event: &TaskEvent, declarations: &[Declaration]) {
        let Some(what) = &event.event else { return };
        self.conversation.fold(event);
        self.made.fold(what);
        match what {
            Event::Turn(turn) => {
                self.answers = 0;
                self.scripted = turn.scripted;
                self.commands = turn.scripted && turn.command.is_some();
                self.done.clear();
                self.brought.clone_from(&turn.brought);
                self.renew();
            }
            Event::Answer(answer) => {
                self.answers += 1;
                self.partial = false;
                self.loops.heard(answer);
                self.batch = Batch::new(self.conversation.open_calls(), declarations);
            }
            // It starts afresh from there: only a new circle counts.
            Event::Told(_) => {
                self.nudged = true;
                self.loops = Loops::default();
            }
            Event::Text(_) => self.partial = true,
            Event::Thought(_) => {}
            Event::Usage(usage) => self.tokens = usage.input_tokens + usage.output_tokens,
            Event::Summary(_) => self.tokens = 0,
            other => {
                self.batch.fold(other);
                if self.commands {
                    self.note(other);
                }
            }
        }
    }

    /// What the calls of a command come to.
    fn note(&mut self, event: &Event) {
        match event {
            Event::ToolCall(call) if call.result.is_some() => {
                self.done.push(Done { call: ToolCall::clone(call), answer: String::new() });
            }
            Event::ToolAnswer(answered) => {
                let mut done = self.done.iter_mut();
                let found = done.find(|done| done.call.tool_call_id == answered.tool_call_id);
                if let (Some(done), Some(Data::FunctionResponse(response))) =
                    (found, answered.parts.first().and_then(|part| part.data.as_ref()))
                {
                    done.answer.clone_from(&response.response);
                }
            }
            _ => {}
        }
    }

    fn renew(&mut self) {
        self.loops = Loops::default();
        self.nudged = false;
        self.partial = false;
    }

    /// Whether calls are open.
    pub fn acts(&self) -> bool {
        !self.batch.is_over()
    }

    /// Whether a slash command is next, and what its calls have come to, in the order in which they were made.
    /// The calls of this turn are a command's, and no model's.
    pub fn is_commanded(&self) -> bool {
        self.commands
    }

    pub fn commands(&self) -> bool {
        self.commands && !self.acts()
    }

    pub fn done(&self) -> Vec<Done> {
        let mut done = self.done.clone();
        done.sort_by_key(|done| self.batch.place(&done.call.tool_call_id));
        done
    }

    /// Whether the model is next, and nothing was shown of its answer yet.
    pub fn thinks(&self) -> bool {
        !self.acts() && self.conversation.awaits_model() && !self.partial && !self.scripted
    }

    pub fn tokens(&self) -> i64 {
        self.tokens
    }

    pub fn pace(&self, most: usize) -> Pace {
        match (self.loops.is_circle(), self.nudged) {
            _ if self.answers >= most => {
                Pace::Pause("This turn has taken as many steps as a turn may. Say \"continue\" to go on.")
            }
            (true, false) => Pace::Nudge,
            (true, true) => Pace::Pause(
                "The same steps come again and again without getting on. Say how to go on, or \"continue\".",
            ),
            (false, _) => Pace::Fine,
        }
    }
}
