//! What is measured, one table each.

use std::time::Duration;

use tokio::runtime::Runtime;

use crate::Servers;
use crate::load::{Ask, crowd, run};

type Table = fn(&Runtime, &Servers);

pub const ALL: [(&str, Table); 3] = [("cpu", cpu), ("latency", latency), ("streams", streams)];

const WORKERS: usize = 32;
/// The kernel counts CPU in steps of 10 ms, so one round says little; the servers take turns.
const ROUNDS: usize = 5;

/// CPU of the server: for a call, and for an event of a stream.
fn cpu(runtime: &Runtime, servers: &Servers) {
    const EVENTS: usize = 2_000;
    let whole = (Ask::Whole, 200, 1.0);
    let streamed = (Ask::Events(EVENTS, Duration::ZERO), 1, EVENTS as f64);
    for (name, (ask, calls, each)) in [("a call", whole), ("an event", streamed)] {
        println!("\n{:<32}{:>14}{:>10}", format!("CPU of {name}, {WORKERS} at once"), "us", "x hop");
        let targets = servers.targets();
        let mut sums = vec![0.0; targets.len()];
        for round in 0..=ROUNDS {
            for (at, (_, target, process)) in targets.iter().enumerate() {
                let before = process.cpu();
                runtime.block_on(run(*target, ask, WORKERS, calls));
                // The first round warms up.
                if round > 0 {
                    sums[at] += (process.cpu() - before).as_secs_f64() * 1e6;
                }
            }
        }
        let count = (ROUNDS * WORKERS * calls) as f64 * each;
        for ((name, ..), sum) in targets.iter().zip(&sums) {
            println!("{name:<32}{:>14.2}{:>10.2}", sum / count, sum / sums[1]);
        }
    }
}

/// How long the first piece takes, and how much of that is added to a direct call.
fn latency(runtime: &Runtime, servers: &Servers) {
    let streamed = Ask::Events(1, Duration::ZERO);
    for (name, ask, workers, rounds) in [
        ("whole answer, one at a time", Ask::Whole, 1, 2_000),
        ("first event, one at a time", streamed, 1, 2_000),
        ("whole answer, 32 at once", Ask::Whole, WORKERS, 300),
        ("first event, 32 at once", streamed, WORKERS, 300),
    ] {
        println!("\n{name:<32}{:>10}{:>10}{:>14}{:>14}", "p50 us", "p99 us", "added p50", "added p99");
        let mut direct = (0.0, 0.0);
        for (at, (name, target, _)) in servers.targets().into_iter().enumerate() {
            runtime.block_on(run(target, ask, workers, rounds / 10));
            let mut times = runtime.block_on(run(target, ask, workers, rounds));
            times.sort_unstable();
            let part = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
            let (p50, p99) = (part(50), part(99));
            if at == 0 {
                direct = (p50, p99);
            }
            println!("{name:<32}{p50:>10.0}{p99:>10.0}{:>14.0}{:>14.0}", p50 - direct.0, p99 - direct.1);
        }
    }
}

/// Many streams that are open at once: how long they take, and the memory of the server meanwhile.
fn streams(runtime: &Runtime, servers: &Servers) {
    let millis = Duration::from_millis;
    for (count, ask) in [(1_000, Ask::Events(100, millis(50))), (5_000, Ask::Events(20, millis(500)))] {
        println!(
            "\n{:<32}{:>10}{:>12}{:>16}",
            format!("{count} streams"),
            "seconds",
            "RSS, MiB",
            "KiB per stream"
        );
        for (name, target, process) in servers.targets().into_iter().skip(1) {
            let before = process.memory_kib();
            let mut during = 0;
            let took = runtime.block_on(crowd(target, ask, count, || during = process.memory_kib()));
            let each = during.saturating_sub(before) as f64 / count as f64;
            println!("{name:<32}{:>10.2}{:>12.1}{each:>16.1}", took.as_secs_f64(), during as f64 / 1024.0);
        }
    }
}
