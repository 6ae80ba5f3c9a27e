//! What can be wrong with models beyond a single value, each as one line. `model::decide` returns these; no key is in
//! them.

use std::io;
use std::path::PathBuf;

/// `at` is the path of the key in the file, or the variable.
#[derive(Debug, thiserror::Error)]
pub enum BadModel {
    #[error("{at}: cannot read {} ({error}); mend the path or the permissions", .path.display())]
    KeyFile { at: String, path: PathBuf, error: io::Error },
    #[error("{at}: {}: {problem}", .path.display())]
    KeyFileContent { at: String, path: PathBuf, problem: String },
    #[error("{at}: the variable that it names is not set; set it, or use key_file")]
    KeyVariable { at: String },
    #[error("{at}: the variable that it names: {problem}")]
    KeyVariableContent { at: String, problem: String },
    #[error("model.backends: the name `{name}` is used twice; give each backend its own name")]
    SameName { name: String },
    #[error("{at}: the name `rehearsal` is for a backend of that kind; choose another")]
    NotRehearsal { at: String },
    #[error(
        "{at}: there is no key; add key_file, key_env or key, set GEMINI_API_KEY, or name a gateway as base_url"
    )]
    NoKey { at: String },
    #[error("{at}: there is no project; {hint}")]
    NoProject { at: String, hint: &'static str },
    #[error("{at}: key and credentials are two ways in; keep one of them")]
    TwoAccesses { at: String },
    #[error("{at}: a key would travel to {host} where others can read it; write https://{hint}")]
    ClearText { at: String, host: String, hint: &'static str },
    #[error("{at}: there is no backend `{name}`; name one of {known}")]
    UnknownBackend { at: String, name: String, known: String },
    #[error("{at}: the route leads nowhere; add backend, to, or arms")]
    NoTarget { at: String },
    #[error("{at}: backend and to stand in each arm where there are arms; take them out beside")]
    TargetBesideArms { at: String },
    #[error("{at}: every weight is 0; give at least one arm a weight")]
    NoWeight { at: String },
    #[error("{at}: the name `{name}` is used twice; give each arm its own name")]
    SameArm { at: String, name: String },
    #[error("{at}: `{model}` has a route already; keep one of them")]
    SameRoute { at: String, model: String },
    #[error(
        "model.name: which model `{backend}` is to be asked for is not known; set model.name, --model or AGENA_MODEL"
    )]
    NoName { backend: String },
}
