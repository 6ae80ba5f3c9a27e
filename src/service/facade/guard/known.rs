//! Which names of models there are, for servers that refuse others. Lists are asked for once a minute.

use std::collections::HashSet;
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

pub(super) struct Known {
    routed: Routed,
    listed: Mutex<Option<(Instant, HashSet<String>)>>,
}

impl Known {
    pub(super) fn new(routed: Routed) -> Self {
        Self { routed, listed: Mutex::new(None) }
    }

    pub(super) async fn check(&self, backend: &dyn Backend, model: &str) -> Result<(), Error> {
        if (self.routed)(model) {
            return Ok(());
        }
        // Whoever comes meanwhile waits for the same list.
        let mut listed = self.listed.lock().await;
        if listed.as_ref().is_none_or(|(at, _)| at.elapsed() > FRESH) {
            match backend.models().await {
                Ok(models) => {
                    *listed = Some((Instant::now(), models.into_iter().map(|model| model.name).collect()));
                }
                // Who has the models will say so itself.
                Err(error) => {
                    tracing::warn!(%error, "models cannot be listed; their names are not checked");
                    return Ok(());
                }
            }
        }
        match listed.as_ref().is_some_and(|(_, names)| names.contains(model)) {
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
