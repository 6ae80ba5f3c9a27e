//! Logging and, in `metrics`, counting. Lines go to standard error; levels mean: ERROR something is broken and needs a person, WARN a
//! person may want to know, INFO one line per request and per change of state, DEBUG for whoever is looking.

pub mod metrics;

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error("the log filter {filter:?} is not valid: {problem}")]
    Filter { filter: String, problem: String },
    #[error("logging is set up already")]
    Twice,
}

/// Once per process.
pub fn start(format: Format, filter: &str) -> Result<(), TelemetryError> {
    let bad = |e: tracing_subscriber::filter::ParseError| TelemetryError::Filter {
        filter: filter.to_owned(),
        problem: e.to_string(),
    };
    // The library of the protocol logs what servers say; whoever wants that names it.
    let filter = EnvFilter::try_new(format!("rmcp=warn,{filter}")).map_err(bad)?;
    let registry = tracing_subscriber::registry().with(filter);
    let started = match format {
        Format::Text => {
            let colour = std::io::stderr().is_terminal();
            registry.with(layer().with_ansi(colour).with_writer(std::io::stderr)).try_init()
        }
        Format::Json => {
            registry.with(layer().json().flatten_event(true).with_writer(std::io::stderr)).try_init()
        }
    };
    started.map_err(|_| TelemetryError::Twice)
}
