//! How the webhooks of a task do, for clients that ask with our extension: A2A has no place for it. Pure; the service
//! puts it on the tasks that it shows.

use crate::domain::store::{Push, PushState};
use crate::proto::a2a::Task;
use crate::proto::wkt::{Kind, ListValue, Struct, Value};

/// Clients that activate it find the state of each webhook in the metadata of every task.
pub const PUSH_STATE: &str = "urn:agena:extension:push-state:v1";

/// `{"webhooks": [{"id", "state", "delivered", "attempts", "problem"}]}` under the name of the extension.
pub fn mark(task: &mut Task, pushes: &[Push]) {
    let values = pushes.iter().map(webhook).collect();
    let webhooks = Value::from(Kind::List(ListValue { values }));
    let state = Struct { fields: [("webhooks".to_owned(), webhooks)].into() };
    let metadata = task.metadata.get_or_insert_default();
    metadata.fields.insert(PUSH_STATE.to_owned(), Value::from(Kind::Struct(state)));
}

fn webhook(push: &Push) -> Value {
    let text = |text: &str| Value::from(Kind::String(text.to_owned()));
    let mut fields = vec![
        ("id", text(&push.config.id)),
        ("delivered", number(push.delivered)),
        ("attempts", number(push.attempts.into())),
    ];
    match &push.state {
        PushState::Active { .. } => fields.push(("state", text("active"))),
        PushState::Stopped { problem } => {
            fields.extend([("state", text("stopped")), ("problem", text(problem))])
        }
    }
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Value::from(Kind::Struct(Struct { fields }))
}

#[allow(clippy::cast_precision_loss, reason = "no task has 2^53 events")]
fn number(number: u64) -> Value {
    Value::from(Kind::Number(number as f64))
}
