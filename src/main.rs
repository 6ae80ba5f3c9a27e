//! The `agena` command.

fn main() {}
