//! What a chunk costs on its way from a model's server: time, instructions and memory. A server of bare bytes streams
//! chunks; a process of its own reads them, once as bytes only, once as chunks, so that the difference is ours.
//! Instructions are valgrind's, where it is installed. `cargo bench --bench model` prints the table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod reader;
mod server;

use std::process::Command;

const CHUNKS: usize = 400_000;
/// 100 MB of chunks of 1 kB.
const LARGE: (usize, usize) = (100_000, 1000);
const FEW: usize = 5_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| arguments.iter().position(|a| a == flag).map(|at| &arguments[at + 1..]);
    match (after("--serve"), after("--read")) {
        (Some(shape), _) => server::serve(&shape[0]),
        (None, Some(how)) => reader::run(&how[0], &how[1]),
        (None, None) => measure(),
    }
}

/// What one reader did.
struct Read {
    cpu_us: f64,
    peak_kib: u64,
    grown_kib: u64,
}

fn measure() {
    println!("{:<34}{:>14}{:>14}{:>12}{:>12}", "", "us per chunk", "instructions", "peak KiB", "grown KiB");
    for (name, (chunks, size)) in
        [("chunks of a few words", (CHUNKS, 20)), ("100 MB in chunks of 1 kB", LARGE)]
    {
        for how in ["bytes", "chunks"] {
            let read = read(how, chunks, size);
            let each = read.cpu_us / chunks as f64;
            let counted = instructions(how, size).map_or("-".to_owned(), |count| count.to_string());
            println!(
                "{:<34}{each:>14.2}{counted:>14}{:>12}{:>12}",
                format!("{name}, {how}"),
                read.peak_kib,
                read.grown_kib
            );
        }
    }
}

fn own(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments);
    command
}

fn read(how: &str, chunks: usize, size: usize) -> Read {
    let server = server::Server::start(chunks, size);
    let told = own(&["--read", how, &server.url]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let numbers: Vec<f64> = told.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [cpu_us, peak, grown, count] = numbers[..] else { panic!("{told}") };
    assert!(how == "bytes" || count as usize == chunks, "{count} of {chunks} chunks");
    Read { cpu_us, peak_kib: peak as u64, grown_kib: grown as u64 }
}

/// Of one chunk: what twice as many take more.
fn instructions(how: &str, size: usize) -> Option<u64> {
    let count = |chunks: usize| -> Option<u64> {
        let server = server::Server::start(chunks, size);
        let exe = std::env::current_exe().ok()?;
        let quiet = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
        let told =
            Command::new("valgrind").args(quiet).arg(exe).args(["--read", how, &server.url]).output().ok()?;
        let told = String::from_utf8_lossy(&told.stderr).into_owned();
        let line = told.lines().find(|line| line.contains("Collected"))?;
        line.rsplit(' ').next()?.parse().ok()
    };
    Some((count(2 * FEW)?.saturating_sub(count(FEW)?)) / FEW as u64)
}
