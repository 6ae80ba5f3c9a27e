//! The toolboxes of contexts that are in use: what a command left running in the background belongs to its context, and
//! outlives the turn that started it. Kept while somebody works with it, and for a while after.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::runner::Owner;
use crate::domain::tool::{BadSettings, Toolbox, Workshop};
use crate::proto::devtool::AgentSettings;

/// After so long without a turn, what still runs is ended.
const IDLE: Duration = Duration::from_hours(1);
/// More contexts than this are not kept when nobody works in them.
const KEPT: usize = 256;

/// Principal, tenant and context.
type Key = (String, String, String);

#[derive(Default)]
pub(super) struct Toolboxes(Mutex<HashMap<Key, Kept>>);

struct Kept {
    toolbox: Arc<dyn Toolbox>,
    /// As it was asked for; another workspace is another toolbox.
    workspace_path: String,
    used: Instant,
}

impl Kept {
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.toolbox) > 1
    }
}

impl Toolboxes {
    pub(super) fn open(
        &self,
        owner: &Owner,
        workspace_path: String,
        workshop: &dyn Workshop,
    ) -> Result<Arc<dyn Toolbox>, BadSettings> {
        let key = (owner.who.name().to_owned(), owner.tenant.clone(), owner.context_id.clone());
        let now = Instant::now();
        if let Some(kept) = self.lock().get_mut(&key).filter(|kept| kept.workspace_path == workspace_path) {
            kept.used = now;
            return Ok(Arc::clone(&kept.toolbox));
        }
        let wanted = AgentSettings { workspace_path, ..AgentSettings::default() };
        let toolbox = workshop.open(&wanted)?;
        let workspace_path = wanted.workspace_path;
        let kept = Kept { toolbox: Arc::clone(&toolbox), workspace_path, used: now };
        let gone = {
            let mut all = self.lock();
            all.insert(key, kept);
            sweep(&mut all, now)
        };
        // Ending what runs in them takes a moment, so it happens without the lock.
        drop(gone);
        Ok(toolbox)
    }

    pub(super) fn tidy(&self) {
        let gone = sweep(&mut self.lock(), Instant::now());
        drop(gone);
    }

    /// A map is whole after every insertion, so a panic elsewhere cannot leave it broken.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes out what nobody works with any more: the idle ones, and the oldest of too many.
fn sweep(all: &mut HashMap<Key, Kept>, now: Instant) -> Vec<Kept> {
    let idle = |kept: &Kept| !kept.is_in_use() && now.duration_since(kept.used) >= IDLE;
    let mut gone: Vec<Kept> = all.extract_if(|_, kept| idle(kept)).map(|(_, kept)| kept).collect();
    while all.len() > KEPT
        && let Some(oldest) = all
            .iter()
            .filter(|(_, kept)| !kept.is_in_use())
            .min_by_key(|(_, kept)| kept.used)
            .map(|(k, _)| k.clone())
    {
        gone.extend(all.remove(&oldest));
    }
    gone
}
