//! The `agena` command: reads what was asked for and runs it. Everything else is in the library.

use std::io::{self, Write};
use std::process::ExitCode;

use agena::app::{App, StartError};
use agena::cli::link::Local;
use agena::cli::{banner, client, token, trust};
use agena::config::{self, Command, LogFormat, ProcessEnv, Settings, Stream};
use agena::sandbox::confine;
use agena::telemetry::{self, Format, TelemetryError};
use agena::transport::Drained;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
        Command::Client(settings, reach, ask) => return run_client(&settings, &reach, &ask),
        Command::Print(text) => io::stdout().write_all(text.as_bytes()).map_err(|e| e.to_string()),
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

/// A command of the client. A server that it starts lives in this process, and ends with it.
fn run_client(settings: &Settings, reach: &config::client::Client, ask: &config::client::Ask) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(ServeError::Runtime(error).to_string()),
    };
    let running = std::cell::Cell::new(None);
    let start = || {
        let (local, stop) = start_local(&runtime)?;
        running.set(Some(stop));
        Ok(local)
    };
    let exit = client::run(&runtime, settings, reach, ask, &start);
    if let Some((stop, served)) = running.take() {
        let _ = stop.send(());
        let _ = runtime.block_on(served);
    }
    ExitCode::from(exit.code())
}

/// What ends a server of this process, and its end.
type Stopping = (tokio::sync::oneshot::Sender<()>, tokio::task::JoinHandle<Drained>);

fn start_local(runtime: &tokio::runtime::Runtime) -> Result<(Local, Stopping), String> {
    let settings = config::local(std::env::args_os(), &ProcessEnv).map_err(|exit| exit.text)?;
    // Within the call of a client, which waits on the runtime already.
    let app = tokio::task::block_in_place(|| {
        let started = tokio::runtime::Handle::current().block_on(App::start(&settings));
        started.map_err(|e| e.to_string())
    })?;
    let local = Local { url: app.place.url.clone(), token: app.token.clone(), warning: app.warning.clone() };
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let served = runtime.spawn(app.run_until(async { stopped.await.unwrap_or_default() }));
    Ok((local, (stop, served)))
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
