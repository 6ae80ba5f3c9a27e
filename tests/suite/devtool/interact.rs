//! One stream for everything: actions in, updates and results out. What fails is told and ends nothing.

use agena::proto::devtool::interact_request::Action;
use agena::proto::devtool::interact_response::Result as Outcome;
use agena::proto::devtool::task_update::Update;
use agena::proto::devtool::*;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::client::Client;
use super::shell;
use crate::a2a::{TESTER, server};
use crate::kit::soon;

pub struct Talk {
    say: mpsc::Sender<InteractRequest>,
    hear: Streaming<InteractResponse>,
}

impl Talk {
    pub async fn begin(client: &Client) -> Self {
        let (say, said) = mpsc::channel(8);
        let request = client.request(ReceiverStream::new(said));
        let hear = soon(client.grpc().interact(request)).await.unwrap().into_inner();
        Self { say, hear }
    }

    async fn act(&self, action_id: &str, action: Action) {
        let request = InteractRequest { action: Some(action), action_id: action_id.to_owned() };
        self.say.send(request).await.unwrap();
    }

    pub async fn next(&mut self) -> Option<InteractResponse> {
        soon(self.hear.message()).await.unwrap()
    }

    /// Until everything that is stored was told.
    pub async fn follow(&mut self, task_id: &str) {
        let request = FollowTaskRequest { task_id: task_id.to_owned(), ..FollowTaskRequest::default() };
        self.act("follow", Action::Follow(request)).await;
        self.until(|update| matches!(update, Update::Status(status) if status.state().is_interrupted()))
            .await;
    }

    /// The result of an action; what is told besides is passed over.
    async fn result(&mut self, action_id: &str) -> Outcome {
        loop {
            let told = self.next().await.unwrap();
            if told.action_id == action_id {
                return told.result.unwrap();
            }
        }
    }

    async fn until(&mut self, wanted: impl Fn(&Update) -> bool) -> TaskUpdate {
        loop {
            let update = self.next().await.unwrap().update;
            if let Some(update) = update.filter(|told| told.update.as_ref().is_some_and(&wanted)) {
                return update;
            }
        }
    }
}

fn start(prompt: String) -> Action {
    Action::Start(StartTaskRequest { prompt, ..StartTaskRequest::default() })
}

fn asks(update: &Update) -> bool {
    matches!(update, Update::ToolCall(call) if call.confirmation_request.is_some())
}

fn ends(update: &Update) -> bool {
    matches!(update, Update::Status(status) if status.state().is_terminal())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_lives_on_one_stream_and_failures_are_told() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let mut talk = Talk::begin(&client).await;
    for (id, action, code) in [
        ("empty", start(String::new()), tonic::Code::InvalidArgument),
        (
            "none",
            Action::Follow(FollowTaskRequest { task_id: "none".to_owned(), after: 0 }),
            tonic::Code::NotFound,
        ),
    ] {
        talk.act(id, action).await;
        let Outcome::Error(error) = talk.result(id).await else { panic!("{id} was done") };
        assert_eq!(error.code, i32::from(code), "{id}: {error:?}");
    }
    talk.say.send(InteractRequest { action: None, action_id: "nothing".to_owned() }).await.unwrap();
    assert!(matches!(talk.result("nothing").await, Outcome::Error(_)));

    talk.act("go", start(shell())).await;
    let Outcome::Done(done) = talk.result("go").await else { panic!("it did not start") };
    let asked = talk.until(asks).await;
    assert_eq!(asked.task_id, done.task_id);
    let Some(Update::ToolCall(call)) = asked.update else { unreachable!() };
    let confirmation = Some(ToolCallConfirmation {
        tool_call_id: call.tool_call_id.clone(),
        selected_option_id: "proceed_once".to_owned(),
        ..ToolCallConfirmation::default()
    });
    let yes = ConfirmToolCallRequest { task_id: done.task_id.clone(), confirmation, ..Default::default() };
    talk.act("yes", Action::Confirm(yes.clone())).await;
    let ended = talk.until(ends).await;
    assert_eq!(ended.task_id, done.task_id);
    talk.act("late", Action::Confirm(yes)).await;
    assert!(matches!(talk.result("late").await, Outcome::Error(_)));

    let more = ContinueTaskRequest {
        task_id: done.task_id.clone(),
        prompt: "More".to_owned(),
        ..Default::default()
    };
    talk.act("more", Action::ContinueTask(more)).await;
    let Outcome::Done(next) = talk.result("more").await else { panic!("it did not go on") };
    assert_ne!(next.task_id, done.task_id);
    assert_eq!(talk.until(ends).await.task_id, next.task_id);
    // The client has said all, and nothing is left to tell.
    let Talk { say, mut hear } = talk;
    drop(say);
    assert_eq!(soon(hear.message()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_on_one_stream_and_one_is_let_go() {
    let server = server();
    let client = Client::new(&server.url, TESTER).await;
    let mut talk = Talk::begin(&client).await;
    talk.act("one", start(shell())).await;
    let Outcome::Done(one) = talk.result("one").await else { panic!("it did not start") };
    talk.until(asks).await;
    talk.act("two", start(shell())).await;
    let Outcome::Done(two) = talk.result("two").await else { panic!("it did not start") };
    assert_eq!(talk.until(asks).await.task_id, two.task_id);
    talk.act("off", Action::Unfollow(UnfollowTask { task_id: one.task_id.clone() })).await;
    assert!(matches!(talk.result("off").await, Outcome::Done(_)));
    for (id, task) in [("end-one", &one.task_id), ("end-two", &two.task_id)] {
        talk.act(id, Action::Cancel(CancelTaskRequest { task_id: task.clone() })).await;
    }
    // Only the end of the one that is followed is told.
    assert_eq!(talk.until(ends).await.task_id, two.task_id);
    talk.act("again", Action::Follow(FollowTaskRequest { task_id: one.task_id.clone(), after: 0 })).await;
    let mut told = talk.until(ends).await;
    assert_eq!(told.task_id, one.task_id);
    told.task_id.clear();
}
