//! The command line: its options, its help, and its options as layers. Does not know what a value may be, which
//! is the schema's to say, and reads no file. `config::parse` calls it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::client::args::{
    CancelArgs, ChatArgs, CommandsArgs, CompletionsArgs, Parts, RulesArgs, TasksArgs, WatchArgs,
};
use super::error::{ConfigError, Source};
use super::help;
use super::layers::Layer;
use super::trust::Ask;

#[derive(Debug, Parser)]
#[command(name = "agena", version, about = help::INTRO, after_help = help::MORE, next_line_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    verb: Option<VerbArgs>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum VerbArgs {
    /// Run the server; what `agena` alone does
    #[command(next_line_help = true, after_help = help::MORE)]
    Serve(Options),
    /// Print the local token that clients send, making it if there is none yet
    #[command(next_line_help = true, after_help = help::TOKEN)]
    Token(Options),
    /// Say whose memory files (GEMINI.md, AGENTS.md) the agent may believe
    #[command(next_line_help = true, after_help = help::TRUST)]
    Trust(TrustArgs),
    /// Talk with the agent of a server, or say one thing to it
    #[command(next_line_help = true, after_help = help::client::CHAT)]
    Chat(Box<ChatArgs>),
    /// List the tasks that have not ended
    #[command(next_line_help = true, after_help = help::client::TASKS)]
    Tasks(Box<TasksArgs>),
    /// Follow a task, or see which tasks change
    #[command(next_line_help = true, after_help = help::client::WATCH)]
    Watch(Box<WatchArgs>),
    /// End a task, and wait until its work has stopped
    #[command(next_line_help = true)]
    Cancel(Box<CancelArgs>),
    /// List what is always allowed, and take it back
    #[command(next_line_help = true, after_help = help::client::RULES)]
    Rules(Box<RulesArgs>),
    /// List the slash commands, and run one
    #[command(next_line_help = true, after_help = help::client::COMMANDS)]
    Commands(Box<CommandsArgs>),
    /// Print completions for a shell
    #[command(after_help = help::client::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
struct TrustArgs {
    /// Directory to trust, with all that lies below it
    #[arg(value_name = "PATH", required_unless_present = "list")]
    path: Option<PathBuf>,
    /// Trust it no longer
    #[arg(long)]
    remove: bool,
    /// Print what is trusted
    #[arg(long, conflicts_with_all = ["path", "remove"])]
    list: bool,
    #[command(flatten)]
    options: Options,
}

impl TrustArgs {
    fn ask(&mut self) -> Ask {
        match (self.path.take(), self.remove) {
            (None, _) => Ask::List,
            (Some(path), false) => Ask::Add(path),
            (Some(path), true) => Ask::Remove(path),
        }
    }
}

pub(super) enum Verb {
    Serve,
    Token,
    Trust(Ask),
    Client(Box<Parts>),
    Completions(Shell),
}

impl Cli {
    /// The verb, and the options before and after it, weakest first. They are kept apart rather than made
    /// `global`, because clap would drop each `--set` before the verb once one comes after it. With `serving`, what a
    /// client says about its work counts as settings of the server that is started for it.
    pub(super) fn into_parts(self, serving: bool) -> (Verb, [Options; 2]) {
        let (verb, options) = match self.verb {
            None => (Verb::Serve, Options::default()),
            Some(VerbArgs::Serve(options)) => (Verb::Serve, options),
            Some(VerbArgs::Token(options)) => (Verb::Token, options),
            Some(VerbArgs::Trust(mut trust)) => (Verb::Trust(trust.ask()), trust.options),
            Some(VerbArgs::Completions(asked)) => (Verb::Completions(asked.shell), Options::default()),
            Some(VerbArgs::Chat(args)) => client(*args, serving),
            Some(VerbArgs::Tasks(args)) => client(*args, serving),
            Some(VerbArgs::Watch(args)) => client(*args, serving),
            Some(VerbArgs::Cancel(args)) => client(*args, serving),
            Some(VerbArgs::Rules(args)) => client(*args, serving),
            Some(VerbArgs::Commands(args)) => client(*args, serving),
        };
        (verb, [self.options, options])
    }
}

fn client(args: impl Into<Parts>, serving: bool) -> (Verb, Options) {
    let mut parts = args.into();
    let options = parts.options(serving);
    (Verb::Client(Box::new(parts)), options)
}

/// All values are kept as they were given, so that the schema judges an option as it judges the file.
#[derive(Debug, Default, Args)]
pub(super) struct Options {
    /// Address and port to listen on
    /// [default: 127.0.0.1:41242; environment: AGENA_LISTEN, or CODER_AGENT_PORT for
    /// the port alone; file: server.listen]
    #[arg(long, value_name = "ADDR", verbatim_doc_comment)]
    listen: Option<OsString>,
    /// Directory of the server's own data, with the local token
    /// [default: the platform's data directory, like ~/.local/share/agena;
    /// environment: AGENA_DATA_DIR; file: data_dir]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    data_dir: Option<OsString>,
    /// Directory the agent works in
    /// [default: the current directory; environment: AGENA_WORKSPACE; file: workspace]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    workspace: Option<OsString>,
    /// What is done without asking: nothing that changes anything, edits of plain files,
    /// or everything; plan changes nothing at all
    /// [default: default; environment: AGENA_APPROVAL_MODE; file: agent.approval_mode]
    #[arg(long, value_name = "default|auto_edit|yolo|plan", verbatim_doc_comment)]
    approval_mode: Option<OsString>,
    /// Whether commands are confined by the kernel (Landlock); auto is on where it can
    /// [default: auto; environment: AGENA_SANDBOX; file: agent.sandbox]
    #[arg(long, value_name = "on|off|auto", verbatim_doc_comment)]
    sandbox: Option<OsString>,
    /// Who may call: holders of a token or key, or everyone on this machine
    /// [default: token; environment: AGENA_AUTH; file: auth.mode]
    #[arg(long, value_name = "token|none", verbatim_doc_comment)]
    auth: Option<OsString>,
    /// Settings file to read
    /// [default: agena.toml in the platform's configuration directory, like
    /// ~/.config/agena/agena.toml, if it exists; environment: AGENA_CONFIG]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(super) config: Option<OsString>,
    /// Set any key of the file; may be repeated. VALUE is TOML, or else plain text.
    /// An option of its own, like --listen, wins over --set
    /// [default: none; environment: none; file: every key]
    #[arg(long, value_name = "KEY=VALUE", verbatim_doc_comment)]
    set: Vec<OsString>,
    /// How log lines are written
    /// [default: text; environment: AGENA_LOG_FORMAT; file: log.format]
    #[arg(long, value_name = "text|json", verbatim_doc_comment)]
    log_format: Option<OsString>,
    /// Certificate chain in PEM, to serve TLS; needs --tls-key
    /// [default: none, plain HTTP; environment: none; file: tls.cert]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    tls_cert: Option<OsString>,
    /// Private key in PEM of the certificate; needs --tls-cert
    /// [default: none, plain HTTP; environment: none; file: tls.key]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    tls_key: Option<OsString>,
    /// Model that is asked where a client names none
    /// [default: gemini-3.8-flash with a key of Google's, else rehearsal;
    /// environment: AGENA_MODEL, or DEFAULT_MODEL, or GEMINI_MODEL; file: model.name]
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    model: Option<OsString>,
    /// Script that the rehearsal follows, in YAML; it is asked instead of any model
    /// [default: none, the rehearsal says what it heard; environment: AGENA_REHEARSAL;
    /// file: model.rehearsal]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    rehearsal: Option<OsString>,
    /// Directory where each session with a model is written as a script to replay
    /// [default: none; environment: AGENA_RECORD; file: model.record]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    record: Option<OsString>,
    /// URL that the agent card announces, when clients come through a proxy
    /// [default: the bound address; environment: AGENA_PUBLIC_URL;
    /// file: server.public_url]
    #[arg(long, value_name = "URL", verbatim_doc_comment)]
    public_url: Option<OsString>,
}

impl Options {
    /// What says where a server keeps its things.
    pub(super) fn found(data_dir: Option<OsString>, config: Option<OsString>, set: Vec<OsString>) -> Self {
        Self { data_dir, config, set, ..Self::default() }
    }

    /// And what it works with.
    #[must_use]
    pub(super) fn working(
        self,
        workspace: Option<OsString>,
        approval_mode: Option<OsString>,
        model: Option<OsString>,
    ) -> Self {
        Self { workspace, approval_mode, model, ..self }
    }

    /// The layers of these options, weakest first: an option made for one key says it more plainly than `--set`.
    pub(super) fn layers(&self) -> Result<Vec<Layer>, ConfigError> {
        let mut layers = Vec::new();
        for given in &self.set {
            layers.push(Layer::set(text("--set", given)?)?);
        }
        for (option, key, given) in self.single() {
            if let Some(given) = given {
                layers.push(Layer::single(Source::Option(option), key, text(option, given)?.into()));
            }
        }
        Ok(layers)
    }

    /// Each option that is one key under another name.
    fn single(&self) -> [(&'static str, &'static str, &Option<OsString>); 13] {
        [
            ("--listen", "server.listen", &self.listen),
            ("--data-dir", "data_dir", &self.data_dir),
            ("--workspace", "workspace", &self.workspace),
            ("--approval-mode", "agent.approval_mode", &self.approval_mode),
            ("--sandbox", "agent.sandbox", &self.sandbox),
            ("--auth", "auth.mode", &self.auth),
            ("--log-format", "log.format", &self.log_format),
            ("--tls-cert", "tls.cert", &self.tls_cert),
            ("--tls-key", "tls.key", &self.tls_key),
            ("--model", "model.name", &self.model),
            ("--rehearsal", "model.rehearsal", &self.rehearsal),
            ("--record", "model.record", &self.record),
            ("--public-url", "server.public_url", &self.public_url),
        ]
    }
}

fn text<'a>(option: &'static str, given: &'a OsStr) -> Result<&'a str, ConfigError> {
    given.to_str().ok_or(ConfigError::NotUtf8 { from: Source::Option(option) })
}
