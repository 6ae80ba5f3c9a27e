//! What clients see of a task: its events in the words of each dialect. Pure; services call it.

pub mod v10;
