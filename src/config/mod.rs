//! The configuration: options, environment and file become layers, layers become one raw configuration, and
//! that is decided once into [`Settings`]. Knows nothing of the server it configures; `main` calls [`parse`].

mod args;
pub mod client;
mod decide;
mod env;
mod error;
mod files;
mod help;
mod layers;
mod mcp;
mod model;
mod private;
mod raw;
mod reload;
mod settings;
pub mod token;
pub mod trust;
mod values;
mod web;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use clap::{CommandFactory, Parser};

use self::args::{Cli, Options, Verb};
use self::files::{Disk, Files};
use self::layers::Layer;
use self::raw::Raw;

pub use self::env::{Env, ProcessEnv};
pub use self::error::{ConfigError, Exit, Source, Stream};
pub use self::mcp::Mcp;
pub use self::model::{
    Arm, BackendKind, BadModel, GEMINI_URL, KeyFrom, Model, NamedBackend, OAuthClient, Proxy, Route, Target,
    VertexAccess,
};
pub use self::settings::{
    A2a, Agent, ApprovalMode, AuthMode, Decision, Durability, Extension, Facade, Limits, Log, LogFormat,
    NamedKey, Rule, Sandbox, Settings, Store, TlsFiles, UnknownModels,
};
pub use self::values::LOCAL_KEY;
pub use self::web::{Host, Hosts, Origins, PublicUrl, WebOrigin};

/// What was asked for, with everything it needs to know.
#[derive(Debug)]
pub enum Command {
    Serve(Box<Settings>),
    Token(Box<Settings>),
    Trust(Box<Settings>, trust::Ask),
    /// With the settings of the local server, as far as they say where it is.
    Client(Box<Settings>, Box<client::Client>, client::Ask),
    /// A text that was asked for.
    Print(String),
}

/// How long a server of a client may still take when that has left.
const LOCAL_DRAIN: std::time::Duration = std::time::Duration::from_secs(2);

/// What settings are read from besides the command line.
struct World<'a> {
    env: &'a dyn Env,
    files: &'a dyn Files,
}

/// Reads the command line, the first of `args` being the program's own name. It changes nothing, so a server that
/// runs may call it again for what the file says by now.
pub fn parse(args: impl IntoIterator<Item = OsString>, env: &impl Env) -> Result<Command, Exit> {
    parse_with(args, env, &Disk)
}

fn parse_with(
    args: impl IntoIterator<Item = OsString>,
    env: &dyn Env,
    files: &dyn Files,
) -> Result<Command, Exit> {
    let (verb, options) = Cli::try_parse_from(args)?.into_parts(false);
    let world = World { env, files };
    let settings = |whole| settle(whole, &options, &world).map(Box::new);
    Ok(match verb {
        Verb::Serve => Command::Serve(settings(Whole::Yes)?),
        // Whoever asks for the token in another shell has no keys of models there, and needs none.
        Verb::Token => Command::Token(settings(Whole::ButModels)?),
        Verb::Trust(ask) => Command::Trust(settings(Whole::ButModels)?, ask),
        Verb::Client(parts) => {
            let settings = settings(Whole::ButModels)?;
            let (client, ask) = client::decide(*parts, &settings, &world)?;
            Command::Client(settings, Box::new(client), ask)
        }
        Verb::Completions(shell) => Command::Print(completions(shell)),
    })
}

/// The settings of a server that a client starts for itself: as `agena serve` would have them, but on a free port of
/// loopback, and without what is for others who come from elsewhere.
pub fn local(args: impl IntoIterator<Item = OsString>, env: &impl Env) -> Result<Settings, Exit> {
    let (_, options) = Cli::try_parse_from(args)?.into_parts(true);
    let settings = settle(Whole::Yes, &options, &World { env, files: &Disk })?;
    let listen = (std::net::Ipv4Addr::LOCALHOST, 0).into();
    // Whoever leaves has seen the end of what was asked for, or does not want to.
    let drain = settings.drain.min(LOCAL_DRAIN);
    Ok(Settings { listen, drain, tls: None, public_url: None, ..settings })
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agena", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// How much of the settings is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    /// No keys of models are read, nor missed.
    ButModels,
}

fn settle(whole: Whole, options: &[Options], world: &World) -> Result<Settings, ConfigError> {
    let mut layers = Vec::new();
    layers.extend(file_layer(options, world)?);
    layers.extend(env::layers(world.env)?);
    for options in options {
        layers.extend(options.layers()?);
    }
    let written = |key| layers.iter().rev().find(|layer| layer.sets(key)).map(|layer| layer.from.clone());
    let written = decide::Written {
        file: layers.iter().find_map(Layer::path),
        model: model::Written { name: written("model.name"), rehearsal: written("model.rehearsal") },
    };
    let raw = layers::lower(layers)?;
    match whole {
        Whole::Yes => decide::decide(raw, written, world),
        Whole::ButModels => {
            let raw = Raw { model: model::raw::Model::default(), ..raw };
            decide::decide(raw, written, &World { env: &BTreeMap::<&str, &str>::new(), ..*world })
        }
    }
}

/// Only a file that was asked for by name must exist.
enum ConfigFile {
    Asked(PathBuf),
    Default(PathBuf),
}

fn file_layer(options: &[Options], world: &World) -> Result<Option<Layer>, ConfigError> {
    let Some(file) = config_file(options, world)? else { return Ok(None) };
    let (ConfigFile::Asked(path) | ConfigFile::Default(path)) = &file;
    match (world.files.read(path), &file) {
        (Ok(text), _) => Layer::file(path, &text).map(Some),
        (Err(error), ConfigFile::Default(_)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        (Err(error), _) => Err(ConfigError::ConfigFile { path: path.clone(), error }),
    }
}

/// Never a file of the current directory unless it was named: that directory may be a workspace whose author
/// is not trusted, and a file there could turn authentication off.
fn config_file(options: &[Options], world: &World) -> Result<Option<ConfigFile>, ConfigError> {
    if let Some(path) = options.iter().rev().find_map(|options| options.config.as_ref()) {
        return Ok(Some(ConfigFile::Asked(path.into())));
    }
    if let Some(path) = env::read(world.env, env::CONFIG)? {
        return Ok(Some(ConfigFile::Asked(path.into())));
    }
    Ok(world.files.default_config_dir().map(|dir| ConfigFile::Default(dir.join("agena.toml"))))
}
