//! What keeps a tool inside: files through a directory handle, children with limits and nothing inherited, addresses
//! checked when they are dialled. Knows neither tools nor agents; the tools, the webhooks and the binary's hidden
//! command use it.
//!
//! | module | what it is |
//! | --- | --- |
//! | `path` | what a path of the model means, if it means something inside; pure |
//! | `workspace` | a directory handle under the configured root: read, list, look |
//! | `write` | whole files, at once, and only over what was shown |
//! | `walk` | all that lies below a directory, without what ignore files name |
//! | `environment` | the variables of a child, from nothing; pure |
//! | `process` | a child seen from the server: its output, its end, its limits |
//! | `confine` | the same child seen from its supervisor, a process of its own |
//! | `talk` | a child that the server talks with |
//! | `landlock` | what the kernel keeps a child from |
//! | `trust` | whose files are believed |
//! | `dial` | which addresses a name may lead to |

pub mod confine;
pub mod dial;
pub mod environment;
pub mod landlock;
mod path;
pub mod process;
pub mod talk;
mod trust;
pub mod walk;
mod workspace;
mod write;

pub use trust::Trusted;
pub use workspace::{Found, FoundKind, Root, Workspace};
