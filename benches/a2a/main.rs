//! What a task costs over gRPC with its journal, next to two yardsticks of bare tonic: one answers the same calls from
//! memory, the other is a hop that forwards them to the first. The goal is twice the hop.
//!
//! Each server is a process of its own, so that its CPU time can be read apart from the load's. The servers take turns,
//! round by round, so that whatever else the machine does meets all of them. Times are of one machine and one run; the
//! ratios are what to look at. `cargo bench --bench a2a` prints the table, with `-- task` or `-- event` half of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod load;
#[path = "../transcode/process.rs"]
mod process;
mod servers;

use std::time::Duration;

use load::Shape;
use process::Process;
use tokio::runtime::Runtime;

/// The kernel counts CPU in steps of 10 ms, so one round says little.
const ROUNDS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|a| a == "--serve") {
        Some(at) => servers::serve(&arguments[at + 1..]),
        None => measure(arguments.iter().skip(1).find(|a| !a.starts_with("--"))),
    }
}

fn measure(only: Option<&String>) {
    let runtime = Runtime::new().unwrap();
    let (bare, agena) = (Process::start(&["tonic"]), Process::start(&["agena"]));
    let hop = Process::start(&["hop", &bare.address().to_string()]);
    println!("{:<34}{:>12}{:>16}{:>10}{:>16}", "", "per second", "server CPU, us", "x hop", "least to most");
    for (name, shape) in [("task, unary", Shape::Task), ("event, streamed", Shape::Event)] {
        if only.is_none_or(|only| name.contains(only.as_str())) {
            compare(
                &runtime,
                name,
                shape,
                [("tonic hop", &hop), ("bare tonic", &bare), ("agena, journaled", &agena)],
            );
        }
    }
}

/// One row for each server; the first is the yardstick.
fn compare(runtime: &Runtime, name: &str, shape: Shape, servers: [(&str, &Process); 3]) {
    for (_, process) in servers {
        runtime.block_on(load::run(shape, process.address(), 0.2));
    }
    let rounds: Vec<[Cost; 3]> =
        (0..ROUNDS).map(|_| servers.map(|(_, process)| Cost::of(runtime, shape, process))).collect();
    let hop = Cost::sum(rounds.iter().map(|round| &round[0]));
    for (index, (server, _)) in servers.iter().enumerate() {
        let all = Cost::sum(rounds.iter().map(|round| &round[index]));
        let ratio = |round: &[Cost; 3]| round[index].micros() / round[0].micros();
        let (least, most) = rounds.iter().map(ratio).fold((f64::MAX, 0.0), |(l, m), r| (r.min(l), r.max(m)));
        println!(
            "{:<34}{:>12.0}{:>16.2}{:>10.2}{:>16}",
            format!("{name}, {server}"),
            all.count / all.elapsed.as_secs_f64(),
            all.micros(),
            all.micros() / hop.micros(),
            format!("{least:.2} to {most:.2}"),
        );
    }
}

/// What was done, in which time, and what it took of the server's.
#[derive(Default)]
struct Cost {
    count: f64,
    elapsed: Duration,
    cpu: Duration,
}

impl Cost {
    fn of(runtime: &Runtime, shape: Shape, process: &Process) -> Self {
        let before = process.cpu();
        let done = runtime.block_on(load::run(shape, process.address(), 1.0));
        Self { count: done.count, elapsed: done.elapsed, cpu: process.cpu() - before }
    }

    fn sum<'a>(costs: impl Iterator<Item = &'a Self>) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            count: sum.count + cost.count,
            elapsed: sum.elapsed + cost.elapsed,
            cpu: sum.cpu + cost.cpu,
        })
    }

    fn micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.count
    }
}
