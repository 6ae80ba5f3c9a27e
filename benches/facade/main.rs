//! What a facade costs, next to a direct call of its model, to a bare hyper proxy that forwards the same answer (the hop), to
//! one that translates it, and to a bare axum server that makes the events itself. The goals are in `docs/operations/performance.md`.
//!
//! Each server is a process of its own, agena being the program that is shipped; the model is a fake on loopback. Times are
//! of one machine and one run; the ratios are what to look at. `cargo bench --bench facade` prints all tables, with
//! `-- cpu`, `-- latency` or `-- streams` one of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod load;
mod process;
mod servers;
mod tables;
mod translator;

use load::{Dialect, Target};
use process::Process;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|a| a == "--serve") {
        Some(at) => servers::serve(&arguments[at + 1..]),
        None => measure(arguments.iter().skip(1).find(|a| !a.starts_with("--"))),
    }
}

/// What agena is asked in, and what the tables call that.
const AGENA: [(&str, Dialect); 3] = [
    ("agena, Gemini (bytes pass)", Dialect::Gemini),
    ("agena, OpenAI", Dialect::OpenAi),
    ("agena, Claude", Dialect::Anthropic),
];

/// Everybody who answers.
pub struct Servers {
    pub model: Process,
    pub hop: Process,
    pub axum: Process,
    pub translator: Process,
    pub agena: Process,
}

impl Servers {
    fn start() -> Self {
        let model = Process::own(&["model"]);
        let address = model.address().to_string();
        Self {
            hop: Process::own(&["hop", &address]),
            axum: Process::own(&["axum"]),
            translator: Process::own(&["translator", &address]),
            agena: Process::agena(&address),
            model,
        }
    }

    /// In the order of the tables; the second is the yardstick.
    pub fn targets(&self) -> Vec<(&'static str, Target, &Process)> {
        let at = |process: &Process, dialect| Target { address: process.address(), dialect };
        let mut targets = vec![
            ("direct", at(&self.model, Dialect::Gemini), &self.model),
            ("hop", at(&self.hop, Dialect::Gemini), &self.hop),
            ("bare axum, OpenAI's events", at(&self.axum, Dialect::OpenAi), &self.axum),
        ];
        targets.extend(AGENA.map(|(name, dialect)| (name, at(&self.agena, dialect), &self.agena)));
        targets
    }

    /// Those that answer as a whole, and translate.
    pub fn translators(&self) -> [(&'static str, Target, &Process); 2] {
        [("translator, OpenAI", Dialect::OpenAi), ("translator, Claude", Dialect::Anthropic)].map(
            |(name, dialect)| {
                (name, Target { address: self.translator.address(), dialect }, &self.translator)
            },
        )
    }

    /// Those of the tables behind the model, each in a process that nothing was asked of before.
    pub fn fresh(&self) -> Vec<(&'static str, Dialect, Process)> {
        let model = self.model.address().to_string();
        let mut fresh = vec![
            ("hop", Dialect::Gemini, Process::own(&["hop", &model])),
            ("bare axum, OpenAI's events", Dialect::OpenAi, Process::own(&["axum"])),
        ];
        fresh.extend(AGENA.map(|(name, dialect)| (name, dialect, Process::agena(&model))));
        fresh
    }
}

fn measure(only: Option<&String>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let servers = Servers::start();
    for (name, table) in tables::ALL {
        if only.is_none_or(|only| name == only.as_str()) {
            table(&runtime, &servers);
        }
    }
}
