//! Clients of Gemini CLI's own server, unchanged: a client that knows nothing but `coderAgent` and `callId/outcome`, the
//! event sequences that it expects (`tests/golden/coder`), and the routes that it calls.

mod again;
mod client;
mod flows;
mod routes;
mod trust;
