//! The way to a server: found or started, dialled, and called with the token. What a cut is, and what comes after one, is
//! said in `cut`; a task is followed over cuts in `follow`.

pub mod cut;
pub mod follow;
mod found;

use std::time::Duration;

use tonic::codegen::InterceptedService;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

pub use self::found::{Found, Local, Starter, find};
use super::exit::{Exit, Stop};
use super::show::safe::safe_line;
use crate::domain::error::{Cause, Wire};
use crate::domain::secret::Secret;
use crate::proto::devtool::development_tool_service_client::DevelopmentToolServiceClient;

/// How long a server may take to take a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// A peer that is gone without a word is noticed after both.
const PING: Duration = Duration::from_secs(15);
const PONG: Duration = Duration::from_secs(10);
/// A tool call holds a file before and after; the server bounds what it sends.
const MESSAGE: usize = 64 << 20;

pub type Client = DevelopmentToolServiceClient<InterceptedService<Channel, Bearer>>;

/// Puts the token into every call.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    fn new(token: Option<&Secret>) -> Result<Self, Stop> {
        let Some(token) = token else { return Ok(Self(None)) };
        let mut value: MetadataValue<Ascii> = format!("Bearer {}", token.expose())
            .parse()
            .map_err(|_| Stop::new(Exit::Usage, "the token holds characters that no header can carry"))?;
        value.set_sensitive(true);
        Ok(Self(Some(value)))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// Dials; the connection comes back by itself after a cut.
async fn dial(url: &str, ca: Option<&[u8]>, token: Option<&Secret>) -> Result<Client, Dial> {
    let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|error| Dial::Never(error.to_string()))?;
    let mut endpoint = endpoint
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(PING)
        .keep_alive_timeout(PONG)
        .keep_alive_while_idle(true);
    if url.starts_with("https:") {
        let tls = match ca {
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_enabled_roots(),
        };
        endpoint = endpoint.tls_config(tls).map_err(|error| Dial::Never(chain(&error)))?;
    }
    let bearer = Bearer::new(token).map_err(|stop| Dial::Never(stop.problem))?;
    let channel = endpoint.connect().await.map_err(|error| match refused(&error) {
        true => Dial::Nobody(chain(&error)),
        false => Dial::Unreached(chain(&error)),
    })?;
    Ok(DevelopmentToolServiceClient::with_interceptor(channel, bearer).max_decoding_message_size(MESSAGE))
}

/// Why a server was not reached.
enum Dial {
    /// Nobody listens there.
    Nobody(String),
    /// Somebody may, but not for us: another name, another certificate, too far away.
    Unreached(String),
    /// It makes no sense to try.
    Never(String),
}

fn refused(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(found) = cause {
        let kind = found.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        if kind == Some(std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = found.source();
    }
    false
}

/// An error with what lies below it; the outermost one often says little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(below) = cause {
        let text = below.to_string();
        if !words.iter().any(|word| word.contains(&text)) {
            words.push(text);
        }
        cause = below.source();
    }
    words.join(": ")
}

/// What a refusal of the server means for this command.
pub fn stop(status: &Status) -> Stop {
    let words = safe_line(status.message());
    match Wire::of(status).cause {
        Cause::Unauthenticated => Stop::new(
            Exit::Unreached,
            format!(
                "the server refuses the token ({words}); give the right one in AGENA_TOKEN or with --token-file"
            ),
        ),
        Cause::HostNotAllowed => {
            Stop::new(Exit::Unreached, format!("the server does not answer to this name: {words}"))
        }
        Cause::InvalidArgument => Stop::new(Exit::Usage, words),
        _ if cut::is_cut(status) => {
            Stop::new(Exit::Unreached, format!("the connection to the server is lost: {words}"))
        }
        _ => Stop::new(Exit::Failed, words),
    }
}
