//! The calls of one answer of the model, together. Pure: what may happen next, and what each step comes to. The runner
//! drives it and performs the effects.

use super::call::{Calling, Input, Refusal, State, Step};
use super::conversation::Named;
use super::scheduler::{self, Act, Class, Phase};
use crate::domain::tool::{Arguments, Call, Declaration, Kind};
use crate::proto::task::task_event::Event;

#[derive(Debug, Clone, Default)]
pub struct Batch {
    members: Vec<Member>,
}

#[derive(Debug, Clone)]
struct Member {
    calling: Calling,
    class: Class,
    /// Somebody looks at it right now.
    planning: bool,
}

impl Batch {
    pub fn new(calls: &[Named], declarations: &[Declaration]) -> Self {
        let member = |named: &Named| {
            let declared = declarations.iter().find(|d| d.name == named.call.name);
            let call = Call {
                id: named.tool_call_id.clone(),
                tool: named.call.name.clone(),
                arguments: arguments(&named.call.args),
            };
            let class = declared.map_or(Class::Reads, |declaration| class(declaration.kind));
            Member { calling: Calling::new(call, named.call.id.clone()), class, planning: false }
        };
        Self { members: calls.iter().map(member).collect() }
    }

    /// Takes an event of the journal, when a task is read back.
    pub fn fold(&mut self, event: &Event) {
        self.members.iter_mut().for_each(|member| member.calling.fold(event));
    }

    /// What can be done now. What is to be planned counts as being planned from here on.
    pub fn advance(&mut self) -> Vec<Act> {
        let phases: Vec<_> =
            self.members.iter().map(|m| (m.class, Phase::of(m.calling.state(), m.planning))).collect();
        let acts = scheduler::next(&phases);
        for act in &acts {
            if let Act::Plan(index) = act
                && let Some(member) = self.members.get_mut(*index)
            {
                member.planning = true;
            }
        }
        acts
    }

    pub fn call(&self, index: usize) -> Option<&Call> {
        self.members.get(index).map(|member| &member.calling.call)
    }

    /// The first call that somebody looks at.
    pub fn planning(&self) -> Option<&str> {
        let first = self.members.iter().find(|member| member.planning);
        first.map(|member| member.calling.call.id.as_str())
    }

    pub fn get(&self, tool_call_id: &str) -> Option<&Calling> {
        self.members.iter().map(|member| &member.calling).find(|calling| calling.call.id == tool_call_id)
    }

    /// Which of the calls it is.
    pub fn place(&self, tool_call_id: &str) -> Option<usize> {
        self.members.iter().position(|member| member.calling.call.id == tool_call_id)
    }

    pub fn apply(&mut self, tool_call_id: &str, input: Input) -> Result<Step, Refusal> {
        let member = self.members.iter_mut().find(|member| member.calling.call.id == tool_call_id);
        let member = member.ok_or(Refusal::UnknownCall)?;
        let step = member.calling.apply(input)?;
        member.planning &= matches!(member.calling.state(), State::Validating);
        Ok(step)
    }

    /// The same input to every call that takes it.
    pub fn apply_all(&mut self, input: &Input) -> Vec<(String, Step)> {
        let ids: Vec<String> = self.members.iter().map(|m| m.calling.call.id.clone()).collect();
        let taken = |id: String| self.apply(&id, input.clone()).ok().map(|step| (id, step));
        ids.into_iter().filter_map(taken).collect()
    }

    /// Those that wait for an answer, in their order.
    pub fn asking(&self) -> impl Iterator<Item = &Calling> {
        self.members.iter().map(|member| &member.calling).filter(|calling| calling.request().is_some())
    }

    pub fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.calling.is_ended())
    }

    /// Approved calls that have to wait for others: what was decided about them is to be shown.
    pub fn held_up(&self) -> Vec<Event> {
        self.members.iter().filter_map(|member| member.calling.waits()).collect()
    }
}

fn class(kind: Kind) -> Class {
    match kind {
        Kind::Edit => Class::Edits,
        Kind::Read | Kind::Search | Kind::Think | Kind::Fetch => Class::Reads,
        Kind::Execute | Kind::Communicate | Kind::Other => Class::Changes,
    }
}

/// Not an object means no arguments; the tool then says which ones it misses.
fn arguments(text: &str) -> Arguments {
    serde_json::from_str(text).unwrap_or_default()
}
