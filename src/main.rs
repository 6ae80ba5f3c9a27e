//! The `agena` command: reads what was asked for and runs it. Everything else is in the library.

use std::io::{self, Write};
use std::process::ExitCode;

use agena::app::{App, StartError};
use agena::cli::{banner, token, trust};
use agena::config::{self, Command, LogFormat, ProcessEnv, Settings, Stream};
use agena::sandbox::confine;
use agena::telemetry::{self, Format, TelemetryError};
use agena::transport::Drained;

fn main() -> ExitCode {
    // Not for people: the process between the server and a command of a tool.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == confine::COMMAND) {
        return confine::run(arguments);
    }
    let command = match config::parse(std::env::args_os(), &ProcessEnv) {
        Ok(command) => command,
        Err(exit) => {
            // Nothing is left to do about an output that cannot be written.
            let _ = match exit.stream {
                Stream::Stdout => io::stdout().write_all(exit.text.as_bytes()),
                Stream::Stderr => io::stderr().write_all(exit.text.as_bytes()),
            };
            return ExitCode::from(exit.code);
        }
    };
    let done = match command {
        Command::Serve(settings) => serve(&settings).map_err(|e| e.to_string()),
        Command::Token(settings) => {
            token::run(&settings, &mut io::stdout(), &mut io::stderr()).map_err(|e| e.to_string())
        }
        Command::Trust(settings, ask) => {
            trust::run(&settings, &ask, &mut io::stdout(), &mut io::stderr()).map_err(|e| e.to_string())
        }
    };
    done.map_or_else(fail, |()| ExitCode::SUCCESS)
}

fn fail(problem: String) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {problem}");
    ExitCode::FAILURE
}

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
}

fn serve(settings: &Settings) -> Result<(), ServeError> {
    let format = match settings.log.format {
        LogFormat::Text => Format::Text,
        LogFormat::Json => Format::Json,
    };
    telemetry::start(format, &settings.log.filter)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let app = App::start(settings).await?;
        announce(&app, settings);
        match app.run(settings.clone(), read_again).await {
            Drained::Whole => tracing::info!("stopped; every request was answered"),
            Drained::Cut => tracing::warn!("stopped; requests that did not end within the limit were cut"),
        }
        Ok(())
    })
}

/// From where they were read when the server started.
fn read_again() -> Result<Settings, String> {
    match config::parse(std::env::args_os(), &ProcessEnv) {
        Ok(Command::Serve(settings)) => Ok(*settings),
        Ok(_) => Err("the command has become another one".to_owned()),
        Err(exit) => Err(exit.text.trim().to_owned()),
    }
}

/// A person gets the banner. Where lines are JSON a machine collects them, and a token must not be among them.
fn announce(app: &App, settings: &Settings) {
    if let Some(warning) = &app.warning {
        tracing::warn!("{warning}");
    }
    match settings.log.format {
        LogFormat::Text => {
            let text = banner::banner(
                &app.place,
                settings,
                App::serving(settings),
                &app.sandbox,
                app.token.as_ref(),
            );
            let _ = io::stdout().write_all(text.as_bytes());
        }
        LogFormat::Json => tracing::info!(
            url = app.place.url,
            grpc = app.place.authority,
            workspace = %settings.workspace.display(),
            model = settings.model.name,
            approval_mode = settings.agent.approval_mode.as_str(),
            sandbox = app.sandbox,
            "ready"
        ),
    }
}
