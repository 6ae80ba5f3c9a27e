//! The MCP client: servers that are started or dialled, and what they offer to the model. Must not know tasks, policy or
//! the built-in tools; the agent reaches it through `domain::mcp`, the composition root makes the [`Hub`].
//!
//! Nothing that a server says or does is believed, and nothing of it is without a bound:
//!
//! | file | what it is |
//! | --- | --- |
//! | `spec` | a server as somebody named it; pure |
//! | `workspace` | those that the files of a trusted workspace name |
//! | `hub` | all servers of the process, and who may use which |
//! | `crew` | the servers for one task: finds the one that is meant |
//! | `own` | tools about servers: their resources, and agreeing to one |
//! | `server` | one server: connected when it is needed, again after it died, but not at once |
//! | `link` | one connection: lists, calls, and their time limits |
//! | `watched`, `pace` | what comes in: progress told, questions answered, chatter dropped, floods slowed down |
//! | `pipe`, `http` | the two ways to a server, with messages of bounded size |
//! | `names`, `offer`, `told` | names, tools and results as the model gets them; pure |
//! | `words` | what went wrong, without names of types; pure |
//! | `unfold` | what it takes to check arguments against a schema; pure |

mod crew;
mod http;
mod hub;
mod link;
mod names;
mod offer;
mod own;
mod pace;
mod pipe;
mod server;
mod spec;
mod told;
mod unfold;
mod watched;
mod words;
mod workspace;

pub use hub::{Hub, Options};
