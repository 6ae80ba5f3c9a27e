//! The APIs of other vendors, through the real server: what a client sees, and what reached the model.

mod anthropic;
mod gemini;
mod guards;
mod ledger;
mod media;
mod openai;
mod responses;

use tempfile::TempDir;

use crate::kit::process::Running;

const ANN: &str = "the-key-of-ann-0123456789";
const BOB: &str = "the-key-of-bob-0123456789";

/// On the data of an earlier run, if it was one, with these settings. `auth.keys` are ann's, with what is added to hers,
/// and bob's.
fn serve(home: TempDir, ann: &str, settings: &str) -> Running {
    let path = home.path().join("agena.toml");
    let keys = format!("{{ name = 'ann', key = '{ANN}'{ann} }}, {{ name = 'bob', key = '{BOB}' }}");
    std::fs::write(&path, format!("auth.keys = [{keys}]\n{settings}")).unwrap();
    let path = path.display().to_string();
    Running::start_in(home, &["--config", &path])
}

/// A backend of Google's kind at this address.
fn gemini(name: &str, url: &str) -> String {
    format!("[[model.backends]]\nname = '{name}'\nkind = 'gemini'\nbase_url = '{url}'\n")
}
