//! Agena: an agent server that every client can dock to.
//!
//! The tree is the path of a request. Use goes only downwards in this list:
//!
//! | module | what it is |
//! | --- | --- |
//! | [`app`] | the composition root: settings in, a running server out |
//! | [`cli`] | the commands besides serving: the terminal client, token, trust; and the banner |
//! | [`config`] | options, environment and file, decided once; only `main`, `app` and `cli` see it |
//! | [`transport`] | one port: connections, TLS, the rim's checks, gRPC on one side and routes on the other |
//! | [`service`] | what calls mean |
//! | [`agent`] | tasks that live: one actor each, on a journal |
//! | [`model`] | what stands behind the agent: Gemini, other models, the rehearsal, and the way from a name to one of them |
//! | [`projection`] | events and tasks in the words of each dialect; pure |
//! | [`facade`] | the APIs of other vendors: requests to the hub, answers back; pure |
//! | [`transcode`] | HTTP+JSON to an RPC and back; pure, used by transport and by generated code |
//! | [`store`] | the journal on SQLite: what was acknowledged is still there after a kill |
//! | [`push`] | webhooks: what is stored behind a webhook's cursor is sent to it |
//! | [`fetch`] | pictures and documents that requests of facades only name |
//! | [`tool`] | the built-in tools of the agent, for one workspace each |
//! | [`mcp`] | tools of MCP servers: started or dialled, listed, called, contained |
//! | [`sandbox`] | what keeps tools inside: files by handle, confined children, checked addresses |
//! | [`domain`] | what every layer shares: values such as principal, error, secret, and contracts |
//! | [`proto`] | the generated types, their JSON and their checks |
//! | [`telemetry`] | logging and metrics |

// Generated code names this crate from inside (the product) and from outside (the tests' own service).
extern crate self as agena;

pub mod agent;
pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod facade;
pub mod fetch;
pub mod mcp;
pub mod model;
pub mod projection;
pub mod proto;
pub mod push;
pub mod sandbox;
pub mod service;
pub mod store;
pub mod telemetry;
pub mod tool;
pub mod transcode;
pub mod transport;
