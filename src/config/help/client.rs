//! The longer texts of `--help` for the terminal client. Knows nothing; the arguments of the client show them.

pub(in crate::config) const CHAT: &str = "\
Without a server to be found, one is started in this process for the length of the chat, with the
settings that `agena` alone would have. A server that was named is never replaced.

While the agent works, Ctrl-C cancels what it does. At the prompt, Ctrl-D or /quit leaves, Tab
completes slash commands, and the arrows go through what was said before.

Examples:
  agena chat
      Talk with the agent of the local server.
  agena chat --server https://agena.example --token-file ~/.agena-token
      Talk with another one.
  agena chat --last
      Go on with the last conversation.
  agena chat -p \"what is in README.md?\"
      Say one thing. The answer goes to standard output, everything else to standard error.
  git diff | agena chat -p - --approval-mode plan > review.md
      The same with a prompt from a pipe, and nothing is changed.
  agena chat -p \"run the tests\" --approve once
      Allow whatever the agent asks for. Only for prompts and workspaces that you trust.
  agena chat -p \"list the files\" --json | jq -r 'select(.text).text'
      Every update of the task, as JSON.

Exit codes of -p, of `watch TASK` and of `commands run`:
  0    the task is completed
  1    it failed, or something went wrong here
  2    the command line or a setting is wrong
  3    the agent asks for something, and nobody is there to answer
  4    no server is reached, or it does not let us in
  5    the task was cancelled by somebody else
  130  it was cancelled here, with Ctrl-C";

pub(in crate::config) const TASKS: &str = "\
Examples:
  agena tasks
      What is under way, and what waits for an answer.
  agena tasks --all --json | jq -r 'select(.state == \"TASK_STATE_FAILED\").task_id'
      The tasks that failed.";

pub(in crate::config) const WATCH: &str = "\
On a terminal, what the task asks for can be answered. Ctrl-C only stops watching.

Examples:
  agena watch 0199...
      Follow a task from its beginning to its end.
  agena watch
      Each task that appears or changes, until Ctrl-C.";

pub(in crate::config) const RULES: &str = "\
Examples:
  agena rules
      What was always allowed, and in which conversation.
  agena rules revoke 0199...
      Ask for it again from now on.";

pub(in crate::config) const COMMANDS: &str = "\
Examples:
  agena commands
      What there is.
  agena commands run \"/memory show\"
      Run one; the exit codes are those of `agena chat -p`.
  agena commands run \"/stats\" --last
      In the last conversation.";

pub(in crate::config) const COMPLETIONS: &str = "\
Examples:
  agena completions bash > ~/.local/share/bash-completion/completions/agena
  agena completions zsh > ~/.zfunc/_agena
  agena completions fish > ~/.config/fish/completions/agena.fish";
