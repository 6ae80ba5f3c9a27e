//! One port for every protocol: connections, TLS, the rim's checks, and the split between gRPC and HTTP+JSON.
//! Knows no configuration file and no meaning of a call; `app` builds it, services stand behind it.

mod access_log;
mod auth;
mod complete;
mod content_type;
mod cors;
mod deadline;
mod front;
mod gate;
pub mod handler;
mod heartbeat;
mod host;
mod listener;
mod origin;
mod panic;
mod protocol;
mod shutdown;
mod stack;
mod tls;

pub use auth::{Access, Keys};
pub use listener::{Drained, Listener, Server};
pub use origin::Origins;
pub use protocol::{Request, Response};
pub use shutdown::{Hangups, Signals};
pub use stack::{Rim, Stack, stack};
pub use tls::{TlsError, acceptor};
