//! Notices for webhooks, in the words of each dialect: a 1.0 webhook gets the event as a stream shows it, a 0.3 one
//! the task as it is after the event. Pure; the deliveries call it through `domain::notice`.

use bytes::Bytes;

use crate::domain::notice::{Notice, Render};
use crate::domain::snapshot::Snapshot;
use crate::domain::store::PushVersion;
use crate::projection::v03::write::V03;
use crate::projection::v10::View;
use crate::proto::json;
use crate::proto::task::TaskEvent;
use crate::proto::task::task_event::Event;

#[derive(Debug, Clone, Copy, Default)]
pub struct PushBodies;

impl Render for PushBodies {
    fn needs_past(&self, version: PushVersion) -> bool {
        version == PushVersion::V03
    }

    fn notice(&self, version: PushVersion, task: &Snapshot, event: &TaskEvent) -> Option<Notice> {
        let (content_type, printed) = match version {
            PushVersion::V10 => ("application/a2a+json", native(task, event)?),
            PushVersion::V03 => ("application/json", old(task, event)?),
        };
        match printed {
            Ok(body) => Some(Notice { content_type, body: Bytes::from(body) }),
            // It would be no better the next time, and what comes behind it must not wait for ever.
            Err(problem) => {
                let (task, sequence) = (&task.task.id, event.sequence);
                tracing::error!(task, sequence, problem, "an event cannot be printed; no webhook gets it");
                None
            }
        }
    }
}

type Printed = Option<Result<Vec<u8>, String>>;

/// Without the cursor: webhooks cannot resume, and nobody activated the extension.
fn native(task: &Snapshot, event: &TaskEvent) -> Printed {
    let (task_id, context_id) = (task.task.id.clone(), task.task.context_id.clone());
    let item = View { task_id, context_id, ..View::default() }.event(event)?;
    let mut body = Vec::new();
    Some(json::encode(&item, &mut body).map(|()| body).map_err(|e| e.to_string()))
}

/// A piece of text is not in the task yet: the message that it grows into is.
fn old(task: &Snapshot, event: &TaskEvent) -> Printed {
    let shows = matches!(event.event, Some(Event::State(_) | Event::Artifact(_) | Event::Message(_)));
    shows.then(|| serde_json::to_vec(&V03(&task.task)).map_err(|e| e.to_string()))
}
