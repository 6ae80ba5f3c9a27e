//! The command line of the terminal client. Knows no server and reads nothing; `config::args` has it below its verbs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

use super::super::args::Options;
use super::super::help::client as help;
use super::{Approve, Ask, Chat, Color, Context, Prompt, Start, Work};

/// Where the server is and how to come in; every command of the client has it.
#[derive(Debug, Default, Args)]
pub(in crate::config) struct ReachArgs {
    /// Server to talk to, like https://agena.example or 127.0.0.1:8080
    /// [default: the address in the settings; environment: AGENA_SERVER]
    #[arg(long, value_name = "URL", verbatim_doc_comment)]
    pub(super) server: Option<OsString>,
    /// File with the token
    /// [default: the local token, for servers of this machine; environment: AGENA_TOKEN
    /// for the token itself]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(super) token_file: Option<PathBuf>,
    /// Certificates in PEM to trust instead of those of the system
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
    /// Start a server for the length of this command, on a free port
    #[arg(long, conflicts_with = "server")]
    pub(super) local: bool,
    /// When to use colours; NO_COLOR is heard [default: auto]
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true)]
    pub(super) color: Option<Color>,
    /// Directory of the server's data, where the local token lies
    #[arg(long, value_name = "DIR")]
    data_dir: Option<OsString>,
    /// Settings file to read
    #[arg(long, value_name = "FILE")]
    config: Option<OsString>,
    /// Set any key of the settings; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<OsString>,
}

#[derive(Debug, Default, Args)]
pub(in crate::config) struct WorkArgs {
    /// Go on with this conversation
    #[arg(long, value_name = "ID", conflicts_with = "last")]
    context: Option<String>,
    /// Go on with the conversation in which something happened last
    #[arg(long)]
    last: bool,
    /// Directory to work in, which the server must allow
    /// [default: the server's own]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(super) workspace: Option<OsString>,
    /// What is done without asking; the server must allow it
    /// [default: the server's own]
    #[arg(long, value_name = "default|auto_edit|yolo|plan", verbatim_doc_comment)]
    pub(super) approval_mode: Option<OsString>,
    /// Model to ask
    /// [default: the server's own]
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    pub(super) model: Option<OsString>,
}

#[derive(Debug, Default, Args)]
struct HowArgs {
    /// What to answer when the agent asks: ask the user, allow each thing once, or never allow
    #[arg(
        long,
        value_enum,
        value_name = "ask|once|never",
        default_value = "ask",
        hide_possible_values = true
    )]
    approve: Approve,
    /// Print what happens as JSON, one object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::config) struct ChatArgs {
    /// Say this, wait for the end and leave; - reads it from standard input
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(in crate::config) struct TasksArgs {
    /// Also those that have ended
    #[arg(long)]
    all: bool,
    /// Only those of this conversation
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// Print each as JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(in crate::config) struct WatchArgs {
    /// Task to follow, from its beginning to its end; without one, every change of every task
    #[arg(value_name = "TASK")]
    task: Option<String>,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(in crate::config) struct CancelArgs {
    /// Task to end
    #[arg(value_name = "TASK")]
    task: String,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(in crate::config) struct RulesArgs {
    #[command(subcommand)]
    verb: Option<RulesVerb>,
    #[command(flatten)]
    list: RulesList,
}

#[derive(Debug, Args)]
struct RulesList {
    /// Only those of this conversation
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// Print each as JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Subcommand)]
enum RulesVerb {
    /// What is always allowed; the same as no verb
    #[command(next_line_help = true)]
    List(Box<RulesList>),
    /// Take a rule back
    #[command(next_line_help = true)]
    Revoke {
        /// Rule to take back, by its id
        #[arg(value_name = "RULE")]
        rule: String,
        /// Conversation that it belongs to, if it is known
        #[arg(long, value_name = "ID")]
        context: Option<String>,
        #[command(flatten)]
        reach: Box<ReachArgs>,
    },
}

#[derive(Debug, Args)]
pub(in crate::config) struct CommandsArgs {
    #[command(subcommand)]
    verb: Option<CommandsVerb>,
    #[command(flatten)]
    list: CommandsList,
}

#[derive(Debug, Args)]
struct CommandsList {
    /// Print each as JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Subcommand)]
enum CommandsVerb {
    /// The commands that there are; the same as no verb
    #[command(next_line_help = true)]
    List(Box<CommandsList>),
    /// Run a command and wait for its end
    #[command(next_line_help = true, after_help = help::COMMANDS)]
    Run {
        /// Command with its arguments, like "/memory show"
        #[arg(value_name = "COMMAND")]
        line: String,
        #[command(flatten)]
        how: HowArgs,
        #[command(flatten)]
        work: Box<WorkArgs>,
        #[command(flatten)]
        reach: Box<ReachArgs>,
    },
}

#[derive(Debug, Args)]
pub(in crate::config) struct CompletionsArgs {
    /// Shell to print them for
    #[arg(value_name = "bash|zsh|fish", value_parser = clap::value_parser!(Shell), hide_possible_values = true)]
    pub(in crate::config) shell: Shell,
}

/// A command of the client, taken apart: what is asked, how the server is reached, and what of the work is said.
pub(in crate::config) struct Parts {
    pub(in crate::config) ask: Ask,
    pub(in crate::config) reach: ReachArgs,
    pub(in crate::config) work: WorkArgs,
    pub(in crate::config) start: Start,
}

impl Parts {
    fn new(ask: Ask, reach: ReachArgs, work: WorkArgs, start: Start) -> Self {
        let start = if reach.local { Start::Always } else { start };
        Self { ask, reach, work, start }
    }

    /// As options of the server: what it needs to be found, and with `serving` what it would need to run.
    pub(in crate::config) fn options(&mut self, serving: bool) -> Options {
        let ReachArgs { data_dir, config, set, .. } = &mut self.reach;
        let found = Options::found(data_dir.take(), config.take(), std::mem::take(set));
        let WorkArgs { workspace, approval_mode, model, .. } = &mut self.work;
        match serving {
            true => found.working(workspace.take(), approval_mode.take(), model.take()),
            false => found,
        }
    }
}

/// Options may stand before a verb and behind it. What stands behind it wins; what may be repeated adds up.
impl ReachArgs {
    fn or(self, before: Self) -> Self {
        Self {
            server: self.server.or(before.server),
            token_file: self.token_file.or(before.token_file),
            ca: self.ca.or(before.ca),
            local: self.local || before.local,
            color: self.color.or(before.color),
            data_dir: self.data_dir.or(before.data_dir),
            config: self.config.or(before.config),
            set: [before.set, self.set].concat(),
        }
    }
}

impl RulesList {
    fn or(self, before: Self) -> Self {
        Self {
            context: self.context.or(before.context),
            json: self.json || before.json,
            reach: self.reach.or(before.reach),
        }
    }
}

impl CommandsList {
    fn or(self, before: Self) -> Self {
        Self {
            json: self.json || before.json,
            work: self.work.or(before.work),
            reach: self.reach.or(before.reach),
        }
    }
}

impl WorkArgs {
    fn or(self, before: Self) -> Self {
        let said = self.context.is_some() || self.last;
        let (context, last) = if said { (self.context, self.last) } else { (before.context, before.last) };
        Self {
            context,
            last,
            workspace: self.workspace.or(before.workspace),
            approval_mode: self.approval_mode.or(before.approval_mode),
            model: self.model.or(before.model),
        }
    }

    /// Where it is done. What holds there is read from the settings, which judge it.
    fn context(&mut self) -> Work {
        let context = match (self.context.take(), self.last) {
            (Some(id), _) => Context::Id(id),
            (None, true) => Context::Last,
            (None, false) => Context::New,
        };
        Work { context, ..Work::default() }
    }
}

impl From<ChatArgs> for Parts {
    fn from(ChatArgs { prompt, how, mut work, reach }: ChatArgs) -> Self {
        let prompt = prompt.map(|text| if text == "-" { Prompt::Stdin } else { Prompt::Text(text) });
        let chat = Chat { prompt, work: work.context(), approve: how.approve, json: how.json };
        Self::new(Ask::Chat(chat), reach, work, Start::IfNone)
    }
}

impl From<TasksArgs> for Parts {
    fn from(TasksArgs { all, context, json, reach }: TasksArgs) -> Self {
        Self::new(Ask::Tasks { context, all, json }, reach, WorkArgs::default(), Start::Never)
    }
}

impl From<WatchArgs> for Parts {
    fn from(WatchArgs { task, how, reach }: WatchArgs) -> Self {
        let ask = Ask::Watch { task, approve: how.approve, json: how.json };
        Self::new(ask, reach, WorkArgs::default(), Start::Never)
    }
}

impl From<CancelArgs> for Parts {
    fn from(CancelArgs { task, reach }: CancelArgs) -> Self {
        Self::new(Ask::Cancel { task }, reach, WorkArgs::default(), Start::Never)
    }
}

impl From<RulesArgs> for Parts {
    fn from(RulesArgs { verb, list }: RulesArgs) -> Self {
        let all = |list: RulesList| (Ask::Rules { context: list.context, json: list.json }, list.reach);
        let (ask, reach) = match verb {
            None => all(list),
            Some(RulesVerb::List(more)) => all(more.or(list)),
            Some(RulesVerb::Revoke { rule, context, reach }) => {
                let RulesList { context, reach, .. } =
                    RulesList { context, json: false, reach: *reach }.or(list);
                (Ask::Revoke { rule, context }, reach)
            }
        };
        Self::new(ask, reach, WorkArgs::default(), Start::Never)
    }
}

impl From<CommandsArgs> for Parts {
    fn from(CommandsArgs { verb, list }: CommandsArgs) -> Self {
        let all = |CommandsList { json, mut work, reach }: CommandsList| {
            Self::new(Ask::Commands { work: work.context(), json }, reach, work, Start::Never)
        };
        match verb {
            None => all(list),
            Some(CommandsVerb::List(more)) => all(more.or(list)),
            Some(CommandsVerb::Run { line, how: HowArgs { approve, json }, work, reach }) => {
                let said = CommandsList { json, work: *work, reach: *reach };
                let CommandsList { json, mut work, reach } = said.or(list);
                let ask = Ask::Run { line, work: work.context(), approve, json };
                Self::new(ask, reach, work, Start::Never)
            }
        }
    }
}
