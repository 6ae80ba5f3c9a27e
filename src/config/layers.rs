//! Layers: what one source says, as a table, checked on its own and then merged. Does no I/O and decides
//! nothing. The readers of options, environment and file make layers; `config::parse` lowers them.

use std::path::{Path, PathBuf};

use serde_path_to_error::Segment;
use toml::{Table, Value};

use super::error::{ConfigError, Source};
use super::raw::Raw;

/// No `Debug`: the table may hold keys.
pub(super) struct Layer {
    pub(super) from: Source,
    pub(super) table: Table,
}

impl Layer {
    /// The layer that sets only the dotted `key`.
    pub(super) fn single(from: Source, key: &str, value: Value) -> Self {
        let (parents, last) =
            key.rsplit_once('.').map_or((None, key), |(parents, last)| (Some(parents), last));
        let mut table = Table::from_iter([(last.to_owned(), value)]);
        for parent in parents.into_iter().flat_map(|parents| parents.rsplit('.')) {
            table = Table::from_iter([(parent.to_owned(), Value::Table(table))]);
        }
        Self { from, table }
    }

    /// The layer of one `--set KEY=VALUE`. What is no TOML is a string, which spares the shell a second
    /// pair of quotes.
    pub(super) fn set(given: &str) -> Result<Self, ConfigError> {
        let form = || ConfigError::SetForm { given: given.to_owned() };
        let (key, text) = given.split_once('=').ok_or_else(form)?;
        let (key, text) = (key.trim(), text.trim());
        if key.split('.').any(str::is_empty) {
            return Err(form());
        }
        let value = text.parse().unwrap_or_else(|_| Value::String(text.to_owned()));
        Ok(Self::single(Source::Set(key.to_owned()), key, value))
    }

    /// The layer of a file's text. The parser's own rendering quotes the line at fault, which may hold a key,
    /// so only its message and the position are told.
    pub(super) fn file(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let mut table = text.parse::<Table>().map_err(|error| {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
            ConfigError::Syntax {
                file: path.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
                problem: error.message().to_owned(),
            }
        })?;
        let from = Source::File(path.to_owned());
        match path.parent().unwrap_or(Path::new("")).to_str() {
            Some(base) => anchor(&mut table, Path::new(base)),
            None => return Err(ConfigError::NotUtf8 { from }),
        }
        Ok(Self { from, table })
    }
}

impl Layer {
    /// Whether it says anything about the dotted `key`.
    pub(super) fn sets(&self, key: &str) -> bool {
        let (parents, last) = key.rsplit_once('.').unwrap_or(("", key));
        let mut table = Some(&self.table);
        for parent in parents.split('.').filter(|parent| !parent.is_empty()) {
            table = table.and_then(|table| table.get(parent)).and_then(Value::as_table);
        }
        table.is_some_and(|table| table.contains_key(last))
    }

    /// Of the file that it was read from.
    pub(super) fn path(&self) -> Option<PathBuf> {
        if let Source::File(path) = &self.from { Some(path.clone()) } else { None }
    }
}

/// Checks every layer alone, so that an error names its source, then merges them, weakest first.
pub(super) fn lower(layers: Vec<Layer>) -> Result<Raw, ConfigError> {
    let mut merged = Table::new();
    for layer in layers {
        read(&layer.from, layer.table.clone())?;
        overlay(&mut merged, layer.table);
    }
    read(&Source::Merged, merged)
}

/// Tables are merged key by key; anything else, lists too, is replaced as a whole.
fn overlay(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => overlay(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn read(from: &Source, table: Table) -> Result<Raw, ConfigError> {
    serde_path_to_error::deserialize(table).map_err(|error| ConfigError::Value {
        from: from.clone(),
        key: key_path(error.path()),
        problem: in_our_words(error.inner().message()),
    })
}

/// The path as the file would spell it; the root is no key.
fn key_path(path: &serde_path_to_error::Path) -> String {
    match path.iter().next() {
        None | Some(Segment::Unknown) => String::new(),
        Some(_) => path.to_string(),
    }
}

/// The file has keys and lists, not fields and sequences. And a value of the wrong type is not quoted, as it may be a secret that is in
/// the wrong place.
fn in_our_words(message: &str) -> String {
    match message.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((_, expected)) => {
            format!("must be {}", expected.replace("a sequence", "a list").replace("string only", "a string"))
        }
        None => message.replace("unknown field", "unknown key").replace("missing field", "missing key"),
    }
}

/// The keys that hold a path or a list of them.
const PATH_KEYS: [(Option<&str>, &str); 9] = [
    (None, "data_dir"),
    (None, "workspace"),
    (Some("tls"), "cert"),
    (Some("tls"), "key"),
    (Some("model"), "rehearsal"),
    (Some("model"), "record"),
    (Some("agent"), "root"),
    (Some("agent"), "writable"),
    (Some("agent"), "trusted"),
];

/// Those that hold one in each table of a list.
const LISTED_PATH_KEYS: [(&str, &str, &str); 4] = [
    ("auth", "keys", "key_file"),
    ("model", "backends", "key_file"),
    ("model", "backends", "credentials"),
    ("model", "backends", "client_secret_file"),
];

/// Those of each of `mcp.servers`.
const SERVER_PATH_KEYS: [&str; 2] = ["cwd", "bearer_token_file"];

/// Makes the paths of a file relative to the file rather than to wherever the server was started.
fn anchor(table: &mut Table, base: &Path) {
    for (section, key) in PATH_KEYS {
        let section = match section {
            None => Some(&mut *table),
            Some(name) => table.get_mut(name).and_then(Value::as_table_mut),
        };
        anchor_value(section.and_then(|section| section.get_mut(key)), base);
    }
    for (section, list, key) in LISTED_PATH_KEYS {
        let list = table.get_mut(section).and_then(|section| section.get_mut(list));
        for entry in list.and_then(Value::as_array_mut).into_iter().flatten() {
            anchor_value(entry.get_mut(key), base);
        }
    }
    let servers = table.get_mut("mcp").and_then(|mcp| mcp.get_mut("servers")).and_then(Value::as_table_mut);
    for (_, server) in servers.into_iter().flatten() {
        for key in SERVER_PATH_KEYS {
            anchor_value(server.get_mut(key), base);
        }
    }
}

/// Leaves what is no usable path as it is, for the schema to refuse it in the author's own words.
fn anchor_value(value: Option<&mut Value>, base: &Path) {
    match value {
        Some(Value::Array(paths)) => paths.iter_mut().for_each(|path| anchor_value(Some(path), base)),
        Some(Value::String(path)) if !path.is_empty() && !path.starts_with('~') => {
            if let Some(anchored) = base.join(&*path).to_str() {
                *path = anchored.to_owned();
            }
        }
        _ => {}
    }
}
