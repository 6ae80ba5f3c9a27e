//! The words of 0.3 where 1.0 has others: states, roles, and the mark on wrapped data. Tables only; the writer and
//! the reader use them.

use crate::proto::a2a::{Role, TaskState};

const STATES: [(TaskState, &str); 9] = [
    (TaskState::Unspecified, "unknown"),
    (TaskState::Submitted, "submitted"),
    (TaskState::Working, "working"),
    (TaskState::Completed, "completed"),
    (TaskState::Failed, "failed"),
    (TaskState::Canceled, "canceled"),
    (TaskState::InputRequired, "input-required"),
    (TaskState::Rejected, "rejected"),
    (TaskState::AuthRequired, "auth-required"),
];

const ROLES: [(Role, &str); 2] = [(Role::User, "user"), (Role::Agent, "agent")];

/// The key in a part's metadata that says: the data is the `value` of the object that 0.3 asks for. The public SDKs
/// all write and read it, so a value that is no object survives the way through 0.3.
pub const WRAPPED: &str = "data_part_compat";
/// The member that holds a wrapped value.
pub const VALUE: &str = "value";

/// A number that is newer than this build is unknown to a 0.3 client too.
pub fn state(number: i32) -> &'static str {
    let found = STATES.into_iter().find(|(state, _)| i32::from(*state) == number);
    found.map_or("unknown", |(_, name)| name)
}

/// 0.3 has no third role; what is not marked as the user's is ours.
pub fn role(number: i32) -> &'static str {
    let found = ROLES.into_iter().find(|(role, _)| i32::from(*role) == number);
    found.map_or("agent", |(_, name)| name)
}

/// Clients in between the versions send 1.0's spelling.
pub fn role_of(name: &str) -> Option<Role> {
    ROLES.into_iter().find(|(role, old)| *old == name || role.as_str_name() == name).map(|(role, _)| role)
}
