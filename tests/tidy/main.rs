//! What the architecture promises and a program can check: who uses whom, and how large files and functions get.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

const MAX_FILE: usize = 500;
const MAX_FUNCTION: usize = 60;

/// A module of `src/` and the modules that it may use. What is not listed may use nothing.
const MAY_USE: &[(&str, &[&str])] = &[
    ("main", &["app", "cli", "config", "sandbox", "telemetry", "transport"]),
    (
        "app",
        &[
            "config",
            "transport",
            "service",
            "agent",
            "model",
            "store",
            "push",
            "fetch",
            "tool",
            "mcp",
            "sandbox",
            "facade",
            "transcode",
            "projection",
            "domain",
            "proto",
            "telemetry",
        ],
    ),
    ("cli", &["config", "service", "domain", "proto"]),
    ("config", &["domain"]),
    ("transport", &["service", "facade", "transcode", "projection", "domain", "proto", "telemetry"]),
    ("service", &["agent", "facade", "projection", "domain", "proto"]),
    ("facade", &["transcode", "domain", "proto"]),
    ("agent", &["domain", "proto"]),
    ("model", &["sandbox", "domain", "proto", "telemetry"]),
    ("transcode", &["domain", "proto"]),
    ("projection", &["domain", "proto"]),
    ("store", &["domain", "proto"]),
    ("push", &["sandbox", "domain", "proto"]),
    ("fetch", &["sandbox", "domain"]),
    ("tool", &["sandbox", "domain", "proto"]),
    ("mcp", &["sandbox", "domain", "proto", "telemetry"]),
    ("sandbox", &["domain", "proto"]),
    ("domain", &["proto"]),
    ("proto", &[]),
    ("telemetry", &[]),
];

#[test]
fn modules_use_only_what_stands_below_them() {
    let mut wrong = Vec::new();
    for path in rust_files("src") {
        let Some((module, allowed)) = layer(&path) else { continue };
        for (number, used) in uses(&fs::read_to_string(&path).unwrap()) {
            if used != module && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{}:{number}: {module} must not use {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_its_place_in_the_table() {
    let unplaced: Vec<_> =
        rust_files("src").into_iter().filter(|p| !p.ends_with("lib.rs") && layer(p).is_none()).collect();
    assert!(unplaced.is_empty(), "{unplaced:?}");
}

#[test]
fn files_and_functions_stay_small() {
    let mut wrong = Vec::new();
    for path in
        ["src", "build", "tests", "benches"].into_iter().flat_map(rust_files).chain(["build.rs".into()])
    {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > MAX_FILE {
            wrong.push(format!("{}: {lines} lines, {MAX_FILE} are the most", path.display()));
        }
        for (number, name, length) in functions(&text).into_iter().filter(|f| f.2 > MAX_FUNCTION) {
            wrong.push(format!(
                "{}:{number}: {name} has {length} lines, {MAX_FUNCTION} are the most",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_checks_themselves_see_what_they_should() {
    assert_eq!(
        uses("use crate::a::b;\n    use agena::c;\nuse crate::{d, e::f};"),
        [(1, "a".to_owned()), (2, "c".to_owned()), (3, "d".to_owned()), (3, "e".to_owned()),]
    );
    let text = "impl X {\n    fn long() {\n        a();\n        b();\n    }\n}\nfn short() {}\n";
    assert_eq!(functions(text), [(2, "long".to_owned(), 4), (7, "short".to_owned(), 1)]);
}

#[test]
fn what_deny_toml_bans_is_not_in_the_tree() {
    let read = |name: &str| fs::read_to_string(name).unwrap().parse::<toml::Table>().unwrap();
    let deny = read("deny.toml");
    let banned: Vec<&str> = deny["bans"]["deny"].as_array().unwrap().iter().filter_map(crate_name).collect();
    assert!(!banned.is_empty());
    let lock = read("Cargo.lock");
    let packages = lock["package"].as_array().unwrap().iter().filter_map(|package| package["name"].as_str());
    let found: Vec<&str> = packages.filter(|name| banned.contains(name)).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// `{ crate = "x" }` or `{ name = "x" }`, possibly with a version behind an `@` or a `:`.
fn crate_name(ban: &toml::Value) -> Option<&str> {
    let name = ban.get("crate").or_else(|| ban.get("name")).unwrap_or(ban).as_str()?;
    name.split(['@', ':']).next()
}

/// The module at the top that a file belongs to, and what it may use.
fn layer(path: &Path) -> Option<(&'static str, &'static [&'static str])> {
    let top = path.strip_prefix("src").ok()?.components().next()?;
    let name = Path::new(top.as_os_str()).file_stem()?.to_str()?;
    MAY_USE.iter().copied().find(|(module, _)| *module == name)
}

/// Line and top-level module of each import from this crate. Tests inside of a module count too.
fn uses(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let import = line.trim().trim_start_matches("pub ").strip_prefix("use ");
        let path = import.and_then(|i| i.strip_prefix("crate::").or_else(|| i.strip_prefix("agena::")));
        let Some(path) = path else { continue };
        let heads: Vec<&str> = match path.strip_prefix('{') {
            Some(list) => list.trim_end_matches(['}', ';']).split(',').collect(),
            None => vec![path],
        };
        for head in heads {
            let name: String = head.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !name.is_empty() {
                found.push((index + 1, name));
            }
        }
    }
    found
}

/// Line, name and length of each function. rustfmt puts the closing brace where the opening line begins.
fn functions(text: &str) -> Vec<(usize, String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let head = code.split(['(', '<']).next().unwrap_or_default();
        let Some(name) =
            head.rsplit("fn ").next().filter(|_| head.starts_with("fn ") || head.contains(" fn "))
        else {
            continue;
        };
        if code.starts_with("//") || code.contains('"') && !code.contains("extern") {
            continue;
        }
        let close = format!("{indent}}}");
        let one_line = code.ends_with('}') || code.ends_with(';');
        let length = if one_line {
            1
        } else {
            lines[start..]
                .iter()
                .position(|l| *l == close || *l == format!("{close},"))
                .map_or(1, |at| at + 1)
        };
        found.push((start + 1, name.trim().to_owned(), length));
    }
    found
}

fn rust_files(root: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(path.to_str().unwrap()));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
