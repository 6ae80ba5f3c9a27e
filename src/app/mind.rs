//! What stands behind the agent, as the settings ask for it: what acts and thinks, and where tools come from.

use std::sync::Arc;

use super::StartError;
use super::parts::rehearsal;
use crate::agent::Mind;
use crate::agent::mind::Options;
use crate::config::Settings;
use crate::domain::tool::Workshop;
use crate::sandbox::process::own_binary;
use crate::tool::{self, Bench};

pub(super) fn mind(settings: &Settings) -> Result<Mind, StartError> {
    let rehearsal = Arc::new(rehearsal(settings)?);
    Ok(Mind {
        brain: rehearsal.clone(),
        backend: rehearsal,
        workshop: Arc::new(workshop(settings)?),
        options: Options::default(),
    })
}

fn workshop(settings: &Settings) -> Result<impl Workshop, StartError> {
    let helper = own_binary().map_err(StartError::OwnBinary)?;
    let options = tool::Options {
        default_workspace: Some(settings.workspace.clone()),
        hidden: vec![settings.data_dir.clone()],
        ..tool::Options::new(settings.workspace.clone(), helper)
    };
    Ok(Bench::new(options)?)
}
