//! Calls of MCP servers and attempts to connect them, by server and how they ended.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Each name is a series for ever, so names that clients make up have an end.
const SERVERS: usize = 200;
const OTHER: &str = "other";

#[derive(Default)]
pub struct McpCalls {
    calls: Family<Labels, Counter>,
    connections: Family<Labels, Counter>,
    known: Mutex<HashSet<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    server: String,
    outcome: &'static str,
}

impl McpCalls {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let made = Self::default();
        registry.register("mcp_calls", "Calls of tools of MCP servers", made.calls.clone());
        registry.register("mcp_connections", "Attempts to connect MCP servers", made.connections.clone());
        made
    }

    pub fn called(&self, server: &str, outcome: &'static str) {
        let server = self.known(server);
        self.calls.get_or_create(&Labels { server, outcome }).inc();
    }

    pub fn connected(&self, server: &str, well: bool) {
        let (server, outcome) = (self.known(server), if well { "ok" } else { "error" });
        self.connections.get_or_create(&Labels { server, outcome }).inc();
    }

    fn known(&self, server: &str) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.contains(server) || (known.len() < SERVERS && known.insert(server.to_owned())) {
            true => server.to_owned(),
            false => OTHER.to_owned(),
        }
    }
}
