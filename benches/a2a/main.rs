//! What a task costs over gRPC with its journal, next to two yardsticks of bare tonic: one answers the same calls from
//! memory, the other is a hop that forwards them to the first. The goal is twice the hop.
//!
//! Each server is a process of its own, so that its CPU time can be read apart from the load's. Times are of one
//! machine and one run; the ratios are what to look at. `cargo bench --bench a2a` prints the table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod load;
#[path = "../transcode/process.rs"]
mod process;
mod servers;

use load::Shape;
use process::Process;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|a| a == "--serve") {
        Some(at) => servers::serve(&arguments[at + 1..]),
        None => measure(),
    }
}

fn measure() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (bare, agena) = (Process::start(&["tonic"]), Process::start(&["agena"]));
    let hop = Process::start(&["hop", &bare.address().to_string()]);
    println!("{:<34}{:>12}{:>16}{:>10}", "", "per second", "server CPU, us", "x hop");
    for (name, shape) in [("task, unary", Shape::Task), ("event, streamed", Shape::Event)] {
        let mut yardstick = f64::NAN;
        for (server, process) in [("tonic hop", &hop), ("bare tonic", &bare), ("agena, journaled", &agena)] {
            let (rate, micros) = cost(&runtime, shape, process);
            yardstick = if yardstick.is_nan() { micros } else { yardstick };
            let ratio = micros / yardstick;
            println!("{:<34}{rate:>12.0}{micros:>16.2}{ratio:>10.2}", format!("{name}, {server}"));
        }
    }
}

/// How many per second, and what one takes of the server's time.
fn cost(runtime: &tokio::runtime::Runtime, shape: Shape, process: &Process) -> (f64, f64) {
    // Once to warm up, once to count.
    runtime.block_on(load::run(shape, process.address(), 0.2));
    let before = process.cpu();
    let done = runtime.block_on(load::run(shape, process.address(), 1.0));
    let micros = (process.cpu() - before).as_secs_f64() * 1e6 / done.count;
    (done.count / done.elapsed.as_secs_f64(), micros)
}
