//! What is measured, one table each.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::Servers;
use crate::load::{Ask, Target, crowd, run};
use crate::process::{Cpu, Memory, Process};

type Table = fn(&Runtime, &Servers);

pub const ALL: [(&str, Table); 3] = [("cpu", cpu), ("latency", latency), ("streams", streams)];

const WORKERS: usize = 32;
/// The kernel counts CPU in steps of 10 ms, so one round says little; the servers take turns.
const ROUNDS: usize = 5;

/// CPU of the server, and how much of it the kernel's, for a call and for an event of a stream; and how many there are in a
/// second while the load and the model take their part of the machine.
fn cpu(runtime: &Runtime, servers: &Servers) {
    const EVENTS: usize = 2_000;
    let whole = (Ask::Whole, 200, 1.0);
    let streamed = (Ask::Events(EVENTS, Duration::ZERO), 1, EVENTS as f64);
    for (name, (ask, calls, each)) in [("a call", whole), ("an event", streamed)] {
        let title = format!("CPU of {name}, {WORKERS} at once");
        println!("\n{title:<32}{:>10}{:>10}{:>10}{:>14}", "us", "kernel", "x hop", "in a second");
        let mut targets = servers.targets();
        if ask == Ask::Whole {
            targets.extend(servers.translators());
        }
        let mut sums = vec![(Cpu::default(), Duration::ZERO); targets.len()];
        for round in 0..=ROUNDS {
            for (at, (_, target, process)) in targets.iter().enumerate() {
                let (before, began) = (process.cpu(), Instant::now());
                runtime.block_on(run(*target, ask, WORKERS, calls));
                // The first round warms up.
                if round > 0 {
                    sums[at].0 += process.cpu().since(before);
                    sums[at].1 += began.elapsed();
                }
            }
        }
        let count = (ROUNDS * WORKERS * calls) as f64 * each;
        let hop = sums[1].0.whole().as_secs_f64();
        for ((name, ..), (cpu, took)) in targets.iter().zip(&sums) {
            let (whole, kernel) = (cpu.whole().as_secs_f64(), cpu.kernel.as_secs_f64());
            let (us, of_kernel) = (whole * 1e6 / count, kernel * 1e6 / count);
            let rate = count / took.as_secs_f64();
            println!("{name:<32}{us:>10.2}{of_kernel:>10.2}{:>10.2}{rate:>14.0}", whole / hop);
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

/// Many streams that are open at once: how long they take, and the memory of the server meanwhile. In a process of its own for
/// each row, since what one leaves behind the next one uses.
fn streams(runtime: &Runtime, servers: &Servers) {
    let millis = Duration::from_millis;
    for (count, ask) in [(1_000, Ask::Events(100, millis(50))), (5_000, Ask::Events(20, millis(500)))] {
        let title = format!("{count} streams");
        println!("\n{title:<32}{:>10}{:>12}{:>20}", "seconds", "RSS, MiB", "own KiB per stream");
        let crowded = |name: &str, target, process: &Process| {
            runtime.block_on(run(target, Ask::Events(1, Duration::ZERO), 1, 1));
            let before = process.memory();
            let mut during = Memory::default();
            let took = runtime.block_on(crowd(target, ask, count, || during = process.memory()));
            let each = during.own.saturating_sub(before.own) as f64 / count as f64;
            let whole = during.whole as f64 / 1024.0;
            println!("{name:<32}{:>10.2}{whole:>12.1}{each:>20.1}", took.as_secs_f64());
        };
        for (name, dialect, process) in servers.fresh() {
            crowded(name, Target { address: process.address(), dialect }, &process);
        }
    }
}
