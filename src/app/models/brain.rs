//! What acts on tasks directly, as the settings have it now: the rehearsal if it comes first, else nobody. A script that
//! stands in a message is for the rehearsal alone.

use std::sync::{Arc, PoisonError, RwLock};

use futures::stream::BoxStream;

use crate::config::{BackendKind, Model};
use crate::domain::brain::{Brain, Brainless, Step, Turn};
use crate::model::rehearsal::Rehearsal;
use crate::proto::a2a::{Message, Part};

pub(super) struct Current(RwLock<Arc<dyn Brain>>);

impl Current {
    pub(super) fn new(settings: &Model, rehearsal: Arc<Rehearsal>) -> Self {
        Self(RwLock::new(chosen(settings, rehearsal)))
    }

    pub(super) fn replace(&self, settings: &Model, rehearsal: Arc<Rehearsal>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = chosen(settings, rehearsal);
    }

    fn now(&self) -> Arc<dyn Brain> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn chosen(settings: &Model, rehearsal: Arc<Rehearsal>) -> Arc<dyn Brain> {
    match settings.backends.first().map(|first| &first.kind) {
        None | Some(BackendKind::Rehearsal) => rehearsal,
        Some(_) => Arc::new(Brainless),
    }
}

impl Brain for Current {
    fn reply(&self, message: &Message) -> Option<Vec<Part>> {
        self.now().reply(message)
    }

    fn work(&self, turn: Turn) -> Option<BoxStream<'static, Step>> {
        self.now().work(turn)
    }
}
