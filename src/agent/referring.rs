//! What a turn begins with: what was said, what went before, and the tasks that it may be about. Part of the actor, which
//! reads them; what they come to is decided in [`super::brought`].

use super::runner::{Failed, Next, Owner, Runner, begun};
use crate::domain::brain::Turn;
use crate::domain::reference;
use crate::domain::snapshot::Snapshot;
use crate::domain::store::{Filter, StoreError};
use crate::proto::a2a::{Message, Task};

/// Of the tasks of a context, as many as a brain may want to look at.
const LOOKED_AT: usize = 16;
/// And as many as are searched for an artifact that is named by its id.
const SEARCHED: usize = 100;

impl Runner {
    /// What was said becomes the turn's; what comes from now on waits for the next. Tells as well how many tasks were
    /// referred to that nobody has.
    pub(super) async fn prepare(&mut self) -> Result<(Turn, usize), Failed> {
        let messages = std::mem::take(&mut self.said);
        let Owner { who, task_id, context_id, .. } = self.owner.clone();
        let first = self.machine.sequence() <= 2;
        let mut history = if first { Vec::new() } else { self.snapshot(&task_id).await?.task.history };
        history.retain(|old| messages.iter().all(|new| new.message_id != old.message_id));
        let (references, missing) = self.references(&messages).await?;
        tracing::debug!(task = task_id, who = who.name(), new = messages.len(), "a turn begins");
        Ok((Turn { task_id, context_id, messages, history, references }, missing))
    }

    async fn references(&mut self, messages: &[Message]) -> Result<(Vec<Task>, usize), Failed> {
        let mut ids: Vec<String> = Vec::new();
        let referred = messages.iter().flat_map(reference::task_ids).map(str::to_owned);
        referred.take(LOOKED_AT).for_each(|id| ids.extend((!ids.contains(&id)).then_some(id)));
        let (mut tasks, mut missing) = (Vec::new(), 0);
        for id in &ids {
            match self.referred(id).await? {
                Some(task) => tasks.push(task),
                None => missing += 1,
            }
        }
        // An artifact may lie in any task of the context, and in a conversation in this very one.
        let named = messages.iter().any(reference::names_one);
        if named || (ids.is_empty() && !self.alone) {
            let around = self.around(if named { SEARCHED } else { LOOKED_AT }).await?;
            for id in around.into_iter().filter(|id| !ids.contains(id)) {
                if named || id != self.owner.task_id {
                    tasks.extend(self.referred(&id).await?);
                }
            }
        }
        Ok((tasks, missing))
    }

    /// The newest tasks of the context.
    async fn around(&mut self, most: usize) -> Result<Vec<String>, Failed> {
        let filter = Filter {
            tenant: self.owner.tenant.clone(),
            context_id: Some(self.owner.context_id.clone()),
            ..Filter::default()
        };
        let page = self.shared.store.list(&self.owner.who, &filter, None, most).await?;
        Ok(page.heads.into_iter().map(|head| head.task_id).collect())
    }

    /// Another's task is none.
    async fn referred(&mut self, id: &str) -> Result<Option<Task>, Failed> {
        match self.snapshot(id).await {
            Ok(snapshot) => Ok((snapshot.tenant == self.owner.tenant).then_some(snapshot.task)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn snapshot(&mut self, task_id: &str) -> Result<Snapshot, StoreError> {
        let events = self.shared.store.events(&self.owner.who, task_id, 0, usize::MAX).await?;
        Ok(Snapshot::of(&events))
    }

    /// Which of several things is meant is not guessed.
    pub(super) async fn ask_back(&mut self, messages: &[Message], question: &str) -> Result<Next, Failed> {
        let asks = self.writer().asks(question);
        self.record(vec![begun(messages, true, String::new()), asks]).await?;
        Ok(Next::Go)
    }
}
