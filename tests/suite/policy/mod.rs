//! The approval policy: tables of modes, kinds and rules; a corpus of shell commands; what is offered, and how a plain
//! answer is read. All of it is pure, so nothing here starts a server.

mod answers;
mod decisions;
mod kit;
mod offers;
mod paths;
mod rules;
mod shell;
