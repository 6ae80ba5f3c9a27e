//! Settings that are read again while the server runs: models at once, the rest at the next start. What is wrong with
//! them is said, and everything stays as it is.

use super::models::Models;
use crate::config::{Model, Settings};
use crate::transport::Hangups;

pub(super) async fn on_hangup(
    mut hangups: Hangups,
    models: Models,
    mut settings: Settings,
    read: impl Fn() -> Result<Settings, String>,
) {
    loop {
        hangups.next().await;
        match read().and_then(|new| exchange(&models, &settings, new)) {
            Ok(new) => settings = new,
            Err(problem) => tracing::error!(problem, "the settings were read again and are not used"),
        }
    }
}

/// The new models are in force; the rest of the settings is kept, because it is.
fn exchange(models: &Models, old: &Settings, new: Settings) -> Result<Settings, String> {
    models.exchange(&new.model).map_err(|error| error.to_string())?;
    let mut waiting = old.needs_restart(&new);
    waiting.extend((old.model.patience != new.model.patience).then_some("model.patience_seconds"));
    waiting.extend((old.model.record != new.model.record).then_some("model.record"));
    let waiting = waiting.join(", ");
    tracing::info!(
        model = new.model.name,
        waiting,
        "the settings of models were read again; `waiting` waits for a restart"
    );
    let (patience, record) = (old.model.patience, old.model.record.clone());
    Ok(Settings { model: Model { patience, record, ..new.model }, ..old.clone() })
}
