//! What the work on a task needs in memory while it is worked on: where it stands, the tools of its workspace, what
//! is allowed, and the hands. Opened from the journal when the model or a tool is needed, gone when the runner is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::call::Input;
use super::conversation::Conversation;
use super::engine::blocking;
use super::hands::Hands;
use super::joined::Joined;
use super::policy::{self, Mode, Policy, Subject, Verdict, options};
use super::prompt::{self, Place};
use super::runner::{Failed, Runner};
use super::work::Work;
use crate::domain::mcp::Crew;
use crate::domain::store::{Context, Filter, StoreError};
use crate::domain::tool::{Call, Declaration, Plan, RESTORE, ToolError, Toolbox};
use crate::proto::devtool::{AgentSettings, McpServer};
use crate::proto::gemini::{Content, GenerateContentRequest};
use crate::proto::task::task_event::Event;
use crate::proto::task::{CommandLine, TaskEvent};

/// How many tasks of the context are remembered word for word.
const EARLIER: usize = 32;

pub(super) struct Session {
    pub(super) work: Work,
    pub(super) tools: Arc<dyn Toolbox>,
    pub(super) servers: Arc<dyn Crew>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) settings: AgentSettings,
    pub(super) policy: Policy,
    pub(super) hands: Hands,
    /// Calls that were looked at sooner than one before them: they are shown in their order.
    pub(super) planned: HashMap<String, Input>,
}

impl Session {
    pub(super) fn subject(&self, call: &Call, plan: &Plan) -> Option<Subject> {
        let declaration = self.declarations.iter().find(|declaration| declaration.name == call.tool)?;
        Some(Subject::new(declaration, call, plan, self.tools.workspace()))
    }

    /// What becomes of a call that was looked at.
    pub(super) fn judge(&self, call: &Call, planned: Result<Plan, ToolError>) -> Input {
        let plan = match planned {
            Ok(plan) => plan,
            Err(error) => return Input::Refused(error),
        };
        let Some(subject) = self.subject(call, &plan) else {
            let problem = format!("the tool {} may not be used in this task", call.tool);
            return Input::Refused(ToolError::new("tool_not_registered", problem));
        };
        match policy::decide(&subject, &self.policy) {
            Verdict::Allow => Input::Free(plan),
            Verdict::Ask => Input::Asks(plan, options::offered(&subject, &self.policy)),
            Verdict::Deny { reason } => Input::Refused(ToolError::new("policy_violation", reason)),
        }
    }

    pub(super) async fn request(&mut self, default_model: &str) -> GenerateContentRequest {
        // What servers offer may have changed since the last turn.
        self.declarations = declared(&*self.tools, &*self.servers, &self.settings).await;
        let tools = Arc::clone(&self.tools);
        let memory = blocking(move || tools.memory()).await.unwrap_or_default();
        let place = Place {
            workspace: self.tools.workspace().to_owned(),
            date: chrono::DateTime::<chrono::Utc>::from(SystemTime::now()).format("%Y-%m-%d").to_string(),
            memory,
            plan_only: self.policy.mode == Mode::Plan,
            brought: self.work.brought.clone(),
        };
        let contents = self.work.conversation.contents();
        // What only commands call is not for models to know.
        let told: Vec<Declaration> =
            self.declarations.iter().filter(|d| d.name != RESTORE).cloned().collect();
        prompt::request(self.model(default_model), &place, &told, contents)
    }

    pub(super) fn model<'a>(&'a self, default: &'a str) -> &'a str {
        if self.settings.model.is_empty() { default } else { &self.settings.model }
    }
}

impl Runner {
    /// The session of the task, read back from the journal if nobody has it yet.
    pub(super) async fn session(&mut self) -> Result<&mut Session, Failed> {
        let session = match self.session.take() {
            Some(session) => session,
            None => Box::new(self.open().await?),
        };
        Ok(self.session.insert(session))
    }

    async fn open(&mut self) -> Result<Session, Failed> {
        let events = self.shared.store.events(&self.owner.who, &self.owner.task_id, 0, usize::MAX).await?;
        self.command = command(&events);
        let settings = self.shared.mind.options.clamp(settings(&events));
        let tools = self.toolbox(settings.workspace_path.clone()).await?;
        let servers = self.servers(tools.workspace().to_owned(), settings.mcp_servers.clone()).await?;
        let tools: Arc<dyn Toolbox> = Arc::new(Joined { tools, servers: Arc::clone(&servers) });
        let declarations = declared(&*tools, &*servers, &settings).await;
        let mut work = Work::after(self.earlier().await?);
        events.iter().for_each(|event| work.fold(event, &declarations));
        let context = Context { tenant: self.owner.tenant.clone(), id: self.owner.context_id.clone() };
        let always = self.shared.store.grants(&self.owner.who, &context).await?;
        let options = &self.shared.mind.options;
        let policy = Policy {
            mode: Mode::from_proto(settings.approval_mode()).unwrap_or(options.mode),
            rules: Arc::clone(&options.rules),
            always: always.into_iter().map(|granted| granted.rule).collect(),
        };
        Ok(Session {
            work,
            tools,
            servers,
            declarations,
            settings,
            policy,
            hands: Hands::default(),
            planned: HashMap::new(),
        })
    }

    /// The same for all tasks of the context, whatever else they set.
    async fn toolbox(&mut self, workspace_path: String) -> Result<Arc<dyn Toolbox>, Failed> {
        let (shared, owner) = (Arc::clone(&self.shared), self.owner.clone());
        let opened = blocking(move || shared.toolboxes.open(&owner, workspace_path, &*shared.mind.workshop));
        Ok(opened.await.ok_or(Failed::Lost)??)
    }

    async fn servers(&mut self, workspace: String, named: Vec<McpServer>) -> Result<Arc<dyn Crew>, Failed> {
        let owner = &self.owner;
        let whose = (owner.who.name().to_owned(), owner.tenant.clone(), owner.context_id.clone());
        let servers = Arc::clone(&self.shared.mind.servers);
        let opened = blocking(move || servers.open(&whose, &workspace, &named));
        Ok(opened.await.ok_or(Failed::Lost)??)
    }

    /// What was said in the context before: of tasks that have ended, in their order.
    async fn earlier(&mut self) -> Result<Vec<Content>, Failed> {
        if self.alone {
            return Ok(Vec::new());
        }
        let filter = Filter {
            tenant: self.owner.tenant.clone(),
            context_id: Some(self.owner.context_id.clone()),
            ..Filter::default()
        };
        let page = self.shared.store.list(&self.owner.who, &filter, None, EARLIER).await?;
        let mut ids: Vec<String> = page
            .heads
            .into_iter()
            .filter(|head| head.state.is_terminal() && head.task_id < self.owner.task_id)
            .map(|head| head.task_id)
            .collect();
        // Ids grow with time.
        ids.sort();
        let mut contents = Vec::new();
        for id in ids {
            let events = match self.shared.store.events(&self.owner.who, &id, 0, usize::MAX).await {
                Err(StoreError::NotFound) => continue,
                events => events?,
            };
            let mut conversation = Conversation::after(contents);
            events.iter().for_each(|event| conversation.fold(event));
            contents = conversation.contents();
        }
        Ok(contents)
    }
}

fn settings(events: &[TaskEvent]) -> AgentSettings {
    let created = events.first().and_then(|event| match &event.event {
        Some(Event::Created(created)) => created.settings.clone(),
        _ => None,
    });
    created.unwrap_or_default()
}

/// What the task executes, if it does.
fn command(events: &[TaskEvent]) -> Option<CommandLine> {
    match &events.first()?.event {
        Some(Event::Created(created)) => created.command.clone(),
        _ => None,
    }
}

/// All that the task may call, as it is now.
pub(super) async fn declared(
    tools: &dyn Toolbox,
    servers: &dyn Crew,
    settings: &AgentSettings,
) -> Vec<Declaration> {
    let names = &settings.allowed_tools;
    let is_allowed = |declaration: &Declaration| {
        names.is_empty() || declaration.name == RESTORE || names.contains(&declaration.name)
    };
    let all = tools.declarations().iter().cloned().chain(servers.declarations().await);
    all.filter(is_allowed).collect()
}
