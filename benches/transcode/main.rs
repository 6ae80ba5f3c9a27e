//! What transcoding costs, next to bare tonic and bare axum that answer the same calls.
//!
//! Each server is a process of its own, so that its CPU time can be read apart from the load's. Times are of
//! one machine and one run; the ratios are what to look at. `cargo bench` prints the table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod load;
#[path = "../../tests/suite/probe/mod.rs"]
#[allow(dead_code, unused_imports)]
mod probe;
mod process;
mod servers;

use load::{Load, Shape, Wire};
use process::Process;

/// Which server answers.
const SERVERS: [&str; 3] = ["tonic", "axum", "agena"];

/// One row: a server, how it is called, and the row that it is compared with.
struct Row {
    name: &'static str,
    server: &'static str,
    load: Load,
    against: usize,
}

const fn row(name: &'static str, server: &'static str, wire: Wire, shape: Shape, against: usize) -> Row {
    Row { name, server, load: Load { wire, shape }, against }
}

const ROWS: [Row; 8] = [
    row("gRPC call, bare tonic", "tonic", Wire::Grpc, Shape::Call, 0),
    row("gRPC call, agena", "agena", Wire::Grpc, Shape::Call, 0),
    row("JSON call, bare axum", "axum", Wire::Http, Shape::Call, 2),
    row("JSON call, agena", "agena", Wire::Http, Shape::Call, 2),
    row("gRPC item, bare tonic", "tonic", Wire::Grpc, Shape::Stream, 4),
    row("gRPC item, agena", "agena", Wire::Grpc, Shape::Stream, 4),
    row("SSE event, bare axum", "axum", Wire::Http, Shape::Stream, 6),
    row("SSE event, agena", "agena", Wire::Http, Shape::Stream, 6),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|a| a == "--serve") {
        Some(at) => servers::serve(&arguments[at + 1]),
        None => measure(),
    }
}

fn measure() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let servers: Vec<(&str, Process)> = SERVERS.iter().map(|name| (*name, Process::start(&[name]))).collect();
    println!("{:<24}{:>12}{:>16}{:>10}", "", "per second", "server CPU, us", "ratio");
    let mut costs = Vec::new();
    for row in &ROWS {
        let (_, process) = servers.iter().find(|(name, _)| *name == row.server).unwrap();
        // Once to warm up, once to count.
        runtime.block_on(row.load.run(process.address(), 0.2));
        let before = process.cpu();
        let done = runtime.block_on(row.load.run(process.address(), 1.0));
        let micros = (process.cpu() - before).as_secs_f64() * 1e6 / done.count;
        costs.push(micros);
        let rate = done.count / done.elapsed.as_secs_f64();
        println!("{:<24}{rate:>12.0}{micros:>16.2}{:>10.2}", row.name, micros / costs[row.against]);
    }
}
