//! Which server: the one that was named, the one of the settings, or one that is started for the length of the command.

use std::path::Path;
use std::time::Duration;

use super::cut::is_away;
use super::{Client, Dial, chain, dial};
use crate::cli::exit::{Exit, Stop};
use crate::cli::show::safe::safe_line;
use crate::config::Settings;
use crate::config::client::{self, Start};
use crate::config::token::load_or_create;
use crate::domain::error::details;
use crate::domain::secret::Secret;
use crate::proto::devtool::ListContextsRequest;

/// How long the first answer of a server may take.
const GREETING: Duration = Duration::from_secs(10);

/// A server that was started in this process.
pub struct Local {
    pub url: String,
    pub token: Option<Secret>,
    /// What its owner should hear.
    pub warning: Option<String>,
}

/// Starts one. Only `main` knows how.
pub type Starter<'a> = &'a dyn Fn() -> Result<Local, String>;

/// A server that answers.
pub struct Found {
    pub client: Client,
    pub url: String,
    pub started: bool,
    pub warning: Option<String>,
}

/// Finds it, or says what was tried and what to do.
pub async fn find(settings: &Settings, wanted: &client::Client, start: Starter<'_>) -> Result<Found, Stop> {
    let mut tried = "no server has a fixed port in the settings".to_owned();
    if let Some(server) = wanted.server.as_ref().filter(|_| wanted.start != Start::Always) {
        let (token, warning) = token(settings, wanted, server)?;
        let ca = wanted.ca.as_deref().map(read).transpose()?;
        match dial(server.as_str(), ca.as_deref(), token.as_ref()).await {
            Ok(client) => {
                greet(&client, server.as_str()).await?;
                return Ok(Found { client, url: server.as_str().to_owned(), started: false, warning });
            }
            Err(Dial::Never(why)) => return Err(Stop::new(Exit::Usage, why)),
            Err(Dial::Unreached(why)) => {
                let tried = format!("the server at {} is not reached ({why})", server.as_str());
                return Err(Stop::new(Exit::Unreached, hint(&tried, wanted.named)));
            }
            Err(Dial::Nobody(why)) => tried = format!("no server answers at {} ({why})", server.as_str()),
        }
    }
    match wanted.start {
        Start::Never => Err(Stop::new(Exit::Unreached, hint(&tried, wanted.named))),
        Start::IfNone if wanted.named => Err(Stop::new(Exit::Unreached, hint(&tried, true))),
        Start::IfNone | Start::Always => begin(&tried, wanted.start, start).await,
    }
}

/// Whether it is one of ours: its refusals have a reason, and nobody else has this service. One that is away at this
/// moment is waited for later, as after a cut.
async fn greet(client: &Client, url: &str) -> Result<(), Stop> {
    let request = ListContextsRequest { page_size: 1, page_token: String::new() };
    let mut client = client.clone();
    let why = match tokio::time::timeout(GREETING, client.list_contexts(request)).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(status)) if details(&status).is_some() || is_away(&status) => return Ok(()),
        Ok(Err(status)) => match std::error::Error::source(&status) {
            Some(below) => format!("what is there does not speak gRPC ({})", safe_line(&chain(below))),
            None => format!("what is there does not know its service ({})", safe_line(status.message())),
        },
        Err(_) => format!("what is there says nothing within {} seconds", GREETING.as_secs()),
    };
    let other = if url.starts_with("https:") { "http" } else { "https" };
    let hint = format!("check the host, the port, and whether it should be {other}");
    Err(Stop::new(Exit::Unreached, format!("no Agena server answers at {url}: {why}; {hint}")))
}

async fn begin(tried: &str, wanted: Start, start: Starter<'_>) -> Result<Found, Stop> {
    let before = if wanted == Start::Always { String::new() } else { format!("{tried}, and ") };
    let failed =
        |why: &str| Stop::new(Exit::Unreached, format!("{before}none can be started here: {}", why.trim()));
    let Local { url, token, warning } = start().map_err(|why| failed(&why))?;
    match dial(&url, None, token.as_ref()).await {
        Ok(client) => Ok(Found { client, url, started: true, warning }),
        Err(Dial::Nobody(why) | Dial::Unreached(why) | Dial::Never(why)) => Err(failed(&why)),
    }
}

/// The token of this machine's user goes to servers of this machine only.
fn token(
    settings: &Settings,
    wanted: &client::Client,
    server: &client::Url,
) -> Result<(Option<Secret>, Option<String>), Stop> {
    if wanted.token.is_some() || !server.is_here() {
        return Ok((wanted.token.clone(), None));
    }
    let local =
        load_or_create(&settings.data_dir).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?;
    Ok((Some(local.token), local.warning))
}

fn hint(tried: &str, named: bool) -> String {
    match named {
        true => format!("{tried}; start one there, or name another with --server or AGENA_SERVER"),
        false => format!("{tried}; start one with `agena`, name another with --server, or add --local"),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let failed = |error| Stop::new(Exit::Usage, format!("--ca: cannot read {} ({error})", path.display()));
    std::fs::read(path).map_err(failed)
}
