//! All servers of the process, and who may use which: those of the settings are shared by all, those of a workspace by
//! whoever works in it, those of a client belong to its context. Made once by the composition root.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::crew::Team;
use super::link::Means;
use super::server::Server;
use super::workspace;
use crate::domain::mcp::{Crew, Servers, Spec, Whose};
use crate::domain::tool::BadSettings;
use crate::proto::devtool::McpServer;
use crate::sandbox::process::Launcher;
use crate::sandbox::{Root, Trusted};
use crate::telemetry::metrics::McpCalls;

/// After so long without a turn, servers of a workspace or a client are ended.
const IDLE: Duration = Duration::from_hours(1);
/// More are not kept when nobody uses them.
const KEPT: usize = 256;
/// Of one client.
const NAMED: usize = 8;

/// What the composition root decides.
pub struct Options {
    /// Those of the operator.
    pub servers: Vec<Spec>,
    /// Clients may name servers of their own.
    pub from_clients: bool,
    /// Trusted workspaces may.
    pub from_workspaces: bool,
    /// Hosts that lie inside and may be named by them all the same.
    pub hosts: Vec<String>,
    /// Every workspace lies under it.
    pub root: PathBuf,
    /// For servers of the settings that name no directory.
    pub workspace: PathBuf,
    /// Directories whose files are believed. Absolute.
    pub trusted: Vec<PathBuf>,
    /// How commands are started; each server adds what its spec names.
    pub launcher: Launcher,
    pub metrics: Arc<McpCalls>,
}

pub struct Hub {
    options: Options,
    root: Root,
    trusted: Trusted,
    settled: Vec<Arc<Server>>,
    of_workspaces: Mutex<HashMap<PathBuf, Kept<Texts>>>,
    of_clients: Mutex<HashMap<Whose, Kept<Named>>>,
}

/// What the files of a workspace say.
type Texts = Vec<String>;
/// What a client named, for which workspace.
type Named = (String, Vec<McpServer>);

/// Servers, what they were made from, and when they were last asked for.
struct Kept<T> {
    from: T,
    servers: Vec<Arc<Server>>,
    used: Instant,
}

impl Hub {
    pub fn new(mut options: Options) -> std::io::Result<Self> {
        let root = Root::open(&options.root)?;
        let trusted = Trusted::new(&options.trusted);
        let specs = std::mem::take(&mut options.servers);
        let means = means(&options, &options.workspace);
        let settled =
            specs.into_iter().map(|spec| Server::new(spec, means.clone(), Arc::clone(&options.metrics)));
        let settled = settled.collect();
        Ok(Self {
            options,
            root,
            trusted,
            settled,
            of_workspaces: Mutex::default(),
            of_clients: Mutex::default(),
        })
    }

    /// Connects the operator's servers, so that the first task need not wait.
    pub fn warm(&self) {
        for server in &self.settled {
            let server = Arc::clone(server);
            tokio::spawn(async move { drop(server.soon().await) });
        }
    }

    fn workspace_servers(&self, workspace: &Path) -> Vec<Arc<Server>> {
        if !self.options.from_workspaces || !self.trusted.holds(workspace) {
            return Vec::new();
        }
        let texts = workspace::texts(&self.root, workspace);
        let mut all = lock(&self.of_workspaces);
        if let Some(kept) = all.get_mut(workspace).filter(|kept| kept.from == texts) {
            kept.used = Instant::now();
            return kept.servers.clone();
        }
        let (specs, problems) = workspace::servers(&texts, workspace, &self.options.hosts);
        for problem in problems {
            tracing::warn!(workspace = %workspace.display(), problem, "an MCP server of a workspace is left out");
        }
        let servers = self.made(specs, workspace);
        all.insert(
            workspace.to_owned(),
            Kept { from: texts, servers: servers.clone(), used: Instant::now() },
        );
        servers
    }

    fn client_servers(
        &self,
        whose: &Whose,
        workspace: &str,
        named: &[McpServer],
    ) -> Result<Vec<Arc<Server>>, BadSettings> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let specs = self.specs(named)?;
        let from = (workspace.to_owned(), named.to_vec());
        let mut all = lock(&self.of_clients);
        if let Some(kept) = all.get_mut(whose).filter(|kept| kept.from == from) {
            kept.used = Instant::now();
            return Ok(kept.servers.clone());
        }
        let servers = self.made(specs, Path::new(workspace));
        all.insert(whose.clone(), Kept { from, servers: servers.clone(), used: Instant::now() });
        Ok(servers)
    }

    fn specs(&self, named: &[McpServer]) -> Result<Vec<Spec>, BadSettings> {
        let bad = |problem: String| BadSettings { field: "mcp_servers", problem };
        if named.is_empty() {
            return Ok(Vec::new());
        }
        if !self.options.from_clients {
            let problem = "this server lets no client name MCP servers; its operator can (mcp.from_clients)";
            return Err(bad(problem.to_owned()));
        }
        if named.len() > NAMED {
            return Err(bad(format!("there are {}; {NAMED} are allowed", named.len())));
        }
        let mut specs: Vec<Spec> = Vec::new();
        for one in named {
            let spec = Spec::of_client(one, &self.options.hosts).map_err(bad)?;
            let known = self.settled.iter().map(|server| &server.spec).chain(&specs);
            if known.into_iter().any(|known| known.name == spec.name) {
                return Err(bad(format!("there is another server `{}`; choose another name", spec.name)));
            }
            specs.push(spec);
        }
        Ok(specs)
    }

    fn made(&self, specs: Vec<Spec>, workspace: &Path) -> Vec<Arc<Server>> {
        let means = means(&self.options, workspace);
        let new = |spec| Server::new(spec, means.clone(), Arc::clone(&self.options.metrics));
        specs.into_iter().map(new).collect()
    }
}

fn means(options: &Options, workspace: &Path) -> Means {
    Means {
        launcher: options.launcher.clone(),
        directory: workspace.to_owned(),
        hosts: options.hosts.clone(),
    }
}

impl Servers for Hub {
    fn check(&self, named: &[McpServer]) -> Result<(), BadSettings> {
        self.specs(named).map(drop)
    }

    fn open(
        &self,
        whose: &Whose,
        workspace: &str,
        named: &[McpServer],
    ) -> Result<Arc<dyn Crew>, BadSettings> {
        let mut servers = self.settled.clone();
        let more = self.workspace_servers(Path::new(workspace)).into_iter();
        for server in more.chain(self.client_servers(whose, workspace, named)?) {
            // Whoever stands higher has the name.
            if servers.iter().all(|known| known.spec.name != server.spec.name) {
                servers.push(server);
            }
        }
        Ok(Arc::new(Team { servers }))
    }

    fn tidy(&self) {
        let gone = (sweep(&mut lock(&self.of_workspaces)), sweep(&mut lock(&self.of_clients)));
        // Ending connections takes a moment, so it happens without the locks.
        drop(gone);
    }
}

/// A map is whole after every insertion, so a panic elsewhere cannot leave it broken.
fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes out what nobody uses any more: the idle ones, and the oldest of too many.
fn sweep<K: Clone + Eq + std::hash::Hash, T>(all: &mut HashMap<K, Kept<T>>) -> Vec<Kept<T>> {
    let in_use = |kept: &Kept<T>| kept.servers.iter().any(|server| Arc::strong_count(server) > 1);
    let mut gone: Vec<Kept<T>> = all
        .extract_if(|_, kept| !in_use(kept) && kept.used.elapsed() >= IDLE)
        .map(|(_, kept)| kept)
        .collect();
    while all.len() > KEPT
        && let Some(oldest) = all
            .iter()
            .filter(|(_, kept)| !in_use(kept))
            .min_by_key(|(_, kept)| kept.used)
            .map(|(k, _)| k.clone())
    {
        gone.extend(all.remove(&oldest));
    }
    gone
}
