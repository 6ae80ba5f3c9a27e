//! A2A on the real binary: every operation over every binding, for several principals, with the rehearsal behind.

mod bad_input;
pub mod client;
mod development;
mod flows;
mod isolation;
mod legacy;
mod moments;
pub mod normal;
mod resume;
mod scale;
mod sends;

use std::fs;

use tempfile::TempDir;

use crate::kit::process::Running;

pub const TESTER: &str = "the-key-of-the-tester";
pub const OTHER: &str = "the-key-of-another";

/// What the tests ask for, by the id of the message.
const SCRIPT: &str = include_str!("script.yaml");

const CONFIG: &str = r#"
[push]
allow_hosts = ["127.0.0.1"]
[[auth.keys]]
name = "tester"
key = "the-key-of-the-tester"
[[auth.keys]]
name = "other"
key = "the-key-of-another"
[model]
rehearsal = "script.yaml"
"#;

/// A home with the settings and the script of the tests.
pub fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/agena");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("agena.toml"), CONFIG).unwrap();
    fs::write(config.join("script.yaml"), SCRIPT).unwrap();
    home
}

pub fn server() -> Running {
    Running::start_in(home(), &[])
}
