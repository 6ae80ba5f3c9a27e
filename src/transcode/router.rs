//! All routes of the port in the order of their rank. Two that nothing decides between are refused when the
//! table is built, at start-up.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::call::Unknown;
use super::route::{Route, Rule};
use super::template::{BadTemplate, Segment, Template, Variable};
use super::vendor::Dialect;
use crate::proto::json::BadJson;

/// Where a group of routes is attached, and how.
#[derive(Debug, Clone, Copy)]
pub struct Mount {
    /// Literal segments before every path.
    pub prefix: &'static [&'static str],
    pub tenants: Tenants,
    pub unknown: Unknown,
    pub slash: Slash,
    /// Rewrites a body before it is read, for dialects that spell the same thing in two ways.
    pub spelling: Option<Spelling>,
    /// Whose errors a client finds here; without one, google.rpc's.
    pub dialect: Option<&'static dyn Dialect>,
    /// How large a body may be; without one, as everywhere.
    pub body_limit: Option<usize>,
}

/// The body in the spelling that the routes read.
pub type Spelling = fn(&[u8]) -> Result<Cow<'_, [u8]>, BadJson>;

impl Mount {
    /// At the root, as the annotations say.
    pub const ROOT: Self = Self {
        prefix: &[],
        tenants: Tenants::Keep,
        unknown: Unknown::Refuse,
        slash: Slash::Strict,
        spelling: None,
        dialect: None,
        body_limit: None,
    };
}

/// Bindings that begin with `{tenant}` would swallow every other path of the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenants {
    Keep,
    Drop,
}

/// Whether a slash at the end of a path counts. With ids it has to: an empty id is not "no id".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    Strict,
    Ignore,
}

struct Entry {
    template: Template,
    route: Route,
    mount: Mount,
}

impl Entry {
    fn matches(&self, segments: &[&str]) -> Option<Vec<(Variable, String)>> {
        let shorter =
            segments.split_last().filter(|(last, _)| last.is_empty() && self.mount.slash == Slash::Ignore);
        matches(&self.template, segments).or_else(|| matches(&self.template, shorter?.1))
    }
}

/// The table. Built once, read by every request.
#[derive(Default)]
pub struct Router {
    /// By HTTP method, most specific first.
    entries: BTreeMap<&'static str, Vec<Arc<Entry>>>,
    /// Those whose template is a path by itself, by that path. A literal wins over a variable, so nobody else need be asked.
    plain: BTreeMap<&'static str, HashMap<String, Arc<Entry>>>,
    /// Those that a path with this first segment may fit, in the same order: few of many.
    below: BTreeMap<&'static str, HashMap<String, Vec<Arc<Entry>>>>,
}

/// Why a table cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum Clash {
    #[error("{0}")]
    Template(#[from] BadTemplate),
    #[error("{method} {template} leads both to {first} and to {second}; change one of the two")]
    Equal { method: &'static str, template: String, first: String, second: String },
}

/// Where a request leads.
pub enum Found<'a> {
    Route {
        route: &'a Route,
        variables: Vec<(Variable, String)>,
        mount: Mount,
    },
    /// The path exists for these methods.
    OtherMethods(Vec<&'static str>),
    Nothing,
}

impl Router {
    /// Adds routes and keeps the table in order.
    pub fn mount(&mut self, mount: Mount, routes: Vec<Route>) -> Result<(), Clash> {
        for route in routes {
            let template = Template::parse(route.rule().template)?;
            let of_tenant = template.variables.first().is_some_and(|v| v.start == 0 && v.field == ["tenant"]);
            if mount.tenants == Tenants::Keep || !of_tenant {
                let template = template.below(mount.prefix);
                self.insert(Entry { template, route, mount })?;
            }
        }
        self.below = self.entries.iter().map(|(method, entries)| (*method, below(entries))).collect();
        Ok(())
    }

    fn insert(&mut self, entry: Entry) -> Result<(), Clash> {
        let method = entry.route.rule().method;
        let entry = Arc::new(entry);
        let entries = self.entries.entry(method).or_default();
        match entries.binary_search_by(|other| other.template.rank(&entry.template)) {
            Err(at) => entries.insert(at, Arc::clone(&entry)),
            Ok(at) => {
                let template = entry.template.to_string();
                let (first, second) = (name(entries[at].route.rule()), name(entry.route.rule()));
                return Err(Clash::Equal { method, template, first, second });
            }
        }
        if entry.template.is_path() {
            self.plain.entry(method).or_default().insert(entry.template.to_string(), entry);
        }
        Ok(())
    }

    pub fn find(&self, method: &str, path: &str) -> Found<'_> {
        // HEAD is GET without the body, which hyper leaves out.
        let wanted = if method == "HEAD" { "GET" } else { method };
        if let Some(entry) = self.plain.get(wanted).and_then(|plain| plain.get(path)) {
            return Found::Route { route: &entry.route, variables: Vec::new(), mount: entry.mount };
        }
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments: Vec<&str> = if path.is_empty() { Vec::new() } else { path.split('/').collect() };
        if let Some((entry, variables)) = self.first(wanted, &segments) {
            return Found::Route { route: &entry.route, variables, mount: entry.mount };
        }
        let others: Vec<_> =
            self.entries.keys().copied().filter(|m| self.first(m, &segments).is_some()).collect();
        if others.is_empty() { Found::Nothing } else { Found::OtherMethods(others) }
    }

    /// Where an RPC is over HTTP, for whoever sends JSON to its gRPC path.
    pub fn place_of(&self, rpc: &str) -> Option<(&'static str, String)> {
        let all = self.entries.iter().flat_map(|(method, entries)| entries.iter().map(move |e| (*method, e)));
        let mut of_rpc = all.filter(|(_, entry)| entry.route.rule().rpc == rpc);
        of_rpc.next().map(|(method, entry)| (method, entry.template.to_string()))
    }

    fn first(&self, method: &str, segments: &[&str]) -> Option<(&Entry, Vec<(Variable, String)>)> {
        let below = segments.first().and_then(|name| self.below.get(method)?.get(*name));
        let entries = below.or_else(|| self.entries.get(method))?;
        entries.iter().find_map(|entry| Some((&**entry, entry.matches(segments)?)))
    }
}

/// By the first segment, all that may fit. A variable in that place fits below every name.
fn below(entries: &[Arc<Entry>]) -> HashMap<String, Vec<Arc<Entry>>> {
    let names = entries.iter().filter_map(|entry| entry.template.first_literal());
    let mut below: HashMap<String, Vec<_>> = names.map(|name| (name.to_owned(), Vec::new())).collect();
    for entry in entries {
        match entry.template.first_literal() {
            Some(name) => below.entry(name.to_owned()).or_default().push(Arc::clone(entry)),
            None => below.values_mut().for_each(|all| all.push(Arc::clone(entry))),
        }
    }
    below
}

/// Every route in one line each, for tests and for whoever debugs a path.
impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (method, entries) in &self.entries {
            for entry in entries {
                writeln!(f, "{method} {} -> {}", entry.template, name(entry.route.rule()))?;
            }
        }
        Ok(())
    }
}

fn name(rule: &Rule) -> String {
    if rule.rpc.is_empty() { rule.template.to_owned() } else { rule.rpc.to_owned() }
}

/// The variables, still percent-encoded, if the path fits.
fn matches(template: &Template, path: &[&str]) -> Option<Vec<(Variable, String)>> {
    let (last, before) = path.split_last().unwrap_or((&"", &[]));
    let last = match &template.verb {
        Some(verb) => last.strip_suffix(verb.as_str())?.strip_suffix(':')?,
        None => last,
    };
    let at = |index: usize| {
        if index < before.len() { Some(before[index]) } else { (index == before.len()).then_some(last) }
    };
    let open = template.segments.last() == Some(&Segment::Rest);
    let fixed = template.segments.len() - usize::from(open);
    if path.len() < fixed || (!open && path.len() > fixed) {
        return None;
    }
    let fits = template.segments.iter().take(fixed).enumerate().all(|(index, segment)| {
        at(index).is_some_and(|text| match segment {
            Segment::Literal(literal) => literal == text,
            _ => !text.is_empty(),
        })
    });
    let value = |variable: &Variable| {
        let end = if open && variable.end == template.segments.len() { path.len() } else { variable.end };
        (variable.start..end).filter_map(at).collect::<Vec<_>>().join("/")
    };
    fits.then(|| template.variables.iter().map(|v| (v.clone(), value(v))).collect())
}

#[cfg(test)]
mod tests {
    use super::super::route::Body;
    use super::*;

    fn route(method: &'static str, template: &'static str) -> Route {
        let rule: &'static Rule =
            Box::leak(Box::new(Rule { rpc: "", method, template, body: Body::None, response_body: None }));
        Route::plain(rule, |_| async { http::Response::new(tonic::body::Body::empty()) })
    }

    fn router(routes: &[(&'static str, &'static str)]) -> Router {
        let mut router = Router::default();
        router.mount(Mount::ROOT, routes.iter().map(|(m, t)| route(m, t)).collect()).unwrap();
        router
    }

    fn found(router: &Router, method: &str, path: &str) -> String {
        match router.find(method, path) {
            Found::Nothing => "nothing".to_owned(),
            Found::OtherMethods(methods) => format!("only {}", methods.join(" ")),
            Found::Route { route, variables, .. } => {
                let values: Vec<_> =
                    variables.iter().map(|(v, value)| format!("{}={value}", v.field.join("."))).collect();
                format!("{} [{}]", route.rule().template, values.join(" "))
            }
        }
    }

    #[test]
    fn the_most_specific_route_that_fits_is_taken() {
        let router = router(&[
            ("GET", "/tasks/{id}"),
            ("GET", "/tasks/{id}:subscribe"),
            ("GET", "/tasks/metadata"),
            ("POST", "/tasks/{id}:cancel"),
            ("GET", "/{tenant}/tasks"),
            ("GET", "/v1/{name=tasks/*}"),
            ("GET", "/files/{path=**}"),
        ]);
        for (method, path, expected) in [
            ("GET", "/tasks/1", "/tasks/{id} [id=1]"),
            ("HEAD", "/tasks/1", "/tasks/{id} [id=1]"),
            ("GET", "/tasks/metadata", "/tasks/metadata []"),
            ("GET", "/tasks/1:subscribe", "/tasks/{id}:subscribe [id=1]"),
            ("GET", "/tasks/a:b:subscribe", "/tasks/{id}:subscribe [id=a:b]"),
            ("GET", "/tasks/a:b", "/tasks/{id} [id=a:b]"),
            ("GET", "/tasks/a%3Asubscribe", "/tasks/{id} [id=a%3Asubscribe]"),
            ("GET", "/tasks/:subscribe", "/tasks/{id} [id=:subscribe]"),
            ("GET", "/tasks/tasks", "/tasks/{id} [id=tasks]"),
            ("GET", "/acme/tasks", "/{tenant}/tasks [tenant=acme]"),
            ("GET", "/v1/tasks/9", "/v1/{name=tasks/*} [name=tasks/9]"),
            ("GET", "/files/a/b", "/files/{path=**} [path=a/b]"),
            ("GET", "/files", "/files/{path=**} [path=]"),
            ("POST", "/tasks/1:cancel", "/tasks/{id}:cancel [id=1]"),
            ("POST", "/tasks/1", "only GET"),
            ("GET", "/tasks/1:cancel", "/tasks/{id} [id=1:cancel]"),
            ("GET", "/tasks/", "nothing"),
            ("GET", "/", "nothing"),
            ("GET", "", "nothing"),
        ] {
            assert_eq!(found(&router, method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn the_first_segment_leads_to_what_looking_through_all_would_find() {
        let router = router(&[
            ("GET", "/message:send"),
            ("GET", "/message/{id}"),
            ("GET", "/{tenant}/message:send"),
            ("GET", "/{tenant}/tasks"),
            ("GET", "/files/{path=**}"),
            ("GET", "/files/{path=**}:pack"),
            ("GET", "/v1/{name=tasks/*}"),
            ("GET", "/tasks/{id}:cancel"),
            ("GET", "/tasks"),
            ("GET", "/{name}"),
        ]);
        let names = [
            "message",
            "message:send",
            "files",
            "files:pack",
            "v1",
            "tasks",
            "a:cancel",
            "other",
            "x:pack",
            "",
        ];
        let all = || names.iter().copied();
        let paths = all().map(|one| vec![one]);
        let paths = paths.chain(all().flat_map(|one| all().map(move |two| vec![one, two])));
        let paths =
            paths
                .chain(all().flat_map(|one| {
                    all().flat_map(move |two| all().map(move |three| vec![one, two, three]))
                }));
        for path in paths {
            let entries = router.entries["GET"].iter();
            let scanned =
                entries.map(|e| (e.route.rule().template, e.matches(&path))).find(|(_, v)| v.is_some());
            let found = router.first("GET", &path).map(|(e, v)| (e.route.rule().template, Some(v)));
            assert_eq!(found, scanned, "{path:?}");
        }
    }

    #[test]
    fn two_routes_of_equal_rank_are_refused_with_both_names() {
        let mut router = router(&[("GET", "/a/{x}")]);
        let clash = router.mount(Mount::ROOT, vec![route("GET", "/a/{y.z}")]).unwrap_err();
        assert_eq!(clash.to_string(), "GET /a/* leads both to /a/{x} and to /a/{y.z}; change one of the two");
        router.mount(Mount::ROOT, vec![route("POST", "/a/{y}")]).unwrap();
    }

    #[test]
    fn a_mount_can_move_routes_and_drop_those_of_tenants() {
        let all =
            || vec![route("GET", "/tasks"), route("GET", "/{tenant}/tasks"), route("GET", "/x/{tenant}")];
        let mut router = Router::default();
        router.mount(Mount { tenants: Tenants::Drop, ..Mount::ROOT }, all()).unwrap();
        router.mount(Mount { prefix: &["a2a"], ..Mount::ROOT }, all()).unwrap();
        let table = format!("{router:?}");
        let paths: Vec<_> = table.lines().map(|line| line.split(" -> ").next().unwrap()).collect();
        assert_eq!(paths, ["GET /a2a/tasks", "GET /a2a/x/*", "GET /a2a/*/tasks", "GET /tasks", "GET /x/*"]);
    }
}
