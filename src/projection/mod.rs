//! What clients see of a task: its events in the words of each dialect. Pure: no I/O, no clock, no randomness;
//! services and fronts call it.

pub mod coder;
pub mod devtool;
pub mod push_state;
pub mod typed;
pub mod v03;
pub mod v10;
pub mod view;
