//! Talking with a task: its updates are shown, what it asks is answered, and Ctrl-C ends it. `turn` is the driver and
//! performs everything; `answer` and `slash` read what was typed and are pure.

pub mod answer;
mod approve;
mod ask;
mod editor;
pub mod input;
pub mod interrupts;
mod keys;
pub mod screen;
pub mod slash;
pub mod turn;
