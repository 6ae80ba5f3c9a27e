//! What a task costs over gRPC with its journal, next to bare tonic that answers the same calls from memory.
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
        Some(at) => servers::serve(&arguments[at + 1]),
        None => measure(),
    }
}

fn measure() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (tonic, agena) = (Process::start("tonic"), Process::start("agena"));
    println!("{:<28}{:>12}{:>16}{:>10}", "", "per second", "server CPU, us", "ratio");
    for (name, shape) in [("task, unary", Shape::Task), ("event, streamed", Shape::Event)] {
        let mut bare = 0.0;
        for (server, process) in [("bare tonic", &tonic), ("agena, journaled", &agena)] {
            // Once to warm up, once to count.
            runtime.block_on(load::run(shape, process.address(), 0.2));
            let before = process.cpu();
            let done = runtime.block_on(load::run(shape, process.address(), 1.0));
            let micros = (process.cpu() - before).as_secs_f64() * 1e6 / done.count;
            bare = if bare == 0.0 { micros } else { bare };
            let rate = done.count / done.elapsed.as_secs_f64();
            println!("{:<28}{rate:>12.0}{micros:>16.2}{:>10.2}", format!("{name}, {server}"), micros / bare);
        }
    }
}
