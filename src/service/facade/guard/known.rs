//! Which names of models there are, for servers that refuse others. Lists are asked for once a minute.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::domain::error::{Cause, Error};
use crate::domain::model::Backend;

/// Whether a name leads somewhere by the settings alone.
pub type Routed = Arc<dyn Fn(&str) -> bool + Send + Sync>;

const FRESH: Duration = Duration::from_mins(1);
/// A backend that is down for a moment is missing in the lists, and its clients should hear that rather than that there is
/// no such model.
const REMEMBERED: Duration = Duration::from_mins(10);

pub(super) struct Known {
    routed: Routed,
    listed: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    at: Option<Instant>,
    /// When each was last seen.
    names: HashMap<String, Instant>,
}

impl Listed {
    fn is_old(&self) -> bool {
        self.at.is_none_or(|at| at.elapsed() > FRESH)
    }

    fn renew(&mut self, names: impl Iterator<Item = String>) {
        let now = Instant::now();
        self.names.retain(|_, seen| now - *seen < REMEMBERED);
        self.names.extend(names.map(|name| (name, now)));
        self.at = Some(now);
    }
}

impl Known {
    pub(super) fn new(routed: Routed) -> Self {
        Self { routed, listed: Mutex::default() }
    }

    pub(super) async fn check(&self, backend: &dyn Backend, model: &str) -> Result<(), Error> {
        if (self.routed)(model) {
            return Ok(());
        }
        // Whoever comes meanwhile waits for the same list.
        let mut listed = self.listed.lock().await;
        if listed.is_old() {
            match backend.models().await {
                Ok(models) => listed.renew(models.into_iter().map(|model| model.name)),
                // Who has the models will say so itself.
                Err(error) => {
                    tracing::warn!(%error, "models cannot be listed; their names are not checked");
                    return Ok(());
                }
            }
        }
        match listed.names.contains_key(model) {
            true => Ok(()),
            false => Err(Error::new(
                Cause::ModelNotFound,
                format!("there is no model `{model}`; the list of models tells which there are"),
            )),
        }
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}
