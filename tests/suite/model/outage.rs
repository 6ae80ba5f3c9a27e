//! A model that is away for five minutes, on a clock that runs as fast as it can.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agena::agent::{Engine, NewTask, Repeat, Sent};
use agena::domain::model::{Backend, Chunks, ModelCause, ModelError};
use agena::domain::principal::Principal;
use agena::model::patient::{Patient, Policy};
use agena::proto::a2a::{Message, Part, Role, TaskState};
use agena::proto::gemini::{GenerateContentRequest, GenerateContentResponse};
use agena::proto::task::task_event::Event;
use agena::proto::vendor;
use agena::store::Sqlite;
use futures::{StreamExt, stream};
use serde_json::json;
use tokio::time::Instant;

use super::shared;
use crate::kit::agent::{AgentSetup, Instead};
use crate::kit::upstream::chunk;

const OUTAGE: Duration = Duration::from_secs(300);
const TASKS: usize = 100;

struct Away {
    until: Instant,
    asked: Arc<AtomicUsize>,
}

impl Backend for Away {
    fn stream(&self, _: GenerateContentRequest) -> Chunks {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let answer: Result<GenerateContentResponse, ModelError> = match Instant::now() < self.until {
            true => Err(ModelError::new(ModelCause::Unavailable, "nobody is there")),
            false => {
                let fine = chunk(json!([{"text": "I am back."}]), "STOP").to_string();
                Ok(vendor::decode(fine.as_bytes()).unwrap())
            }
        };
        stream::iter([answer]).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_waiting_tasks_go_on_after_five_minutes() {
    let (began, asked) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let away = Away { until: began + OUTAGE, asked: Arc::clone(&asked) };
    let patient = Patient::new(shared(away), Policy::agent(Duration::from_secs(600)));
    let setup = AgentSetup { instead: Some(Instead(shared(patient))), ..AgentSetup::default() };
    let engine = Engine::new(Arc::new(Sqlite::open_temporary().unwrap()), setup.mind(""));
    let tasks = futures::future::join_all((0..TASKS).map(|number| one(engine.clone(), number))).await;
    for (ended, said, waited) in &tasks {
        assert_eq!((*ended, said.as_str()), (TaskState::Completed, "I am back."));
        assert!(*waited > 5, "the user hears of the wait");
    }
    let took = began.elapsed();
    assert!((OUTAGE..OUTAGE + Duration::from_secs(31)).contains(&took), "{took:?}");
    let each = asked.load(Ordering::SeqCst) / TASKS;
    assert!((10..=25).contains(&each), "asked {each} times each: patient, and no hammer");
}

/// How it ended, what was said, and how often it was said that it waits.
async fn one(engine: Engine, number: usize) -> (TaskState, String, usize) {
    let message = Message {
        message_id: format!("m{number}"),
        context_id: format!("c{number}"),
        role: Role::User.into(),
        parts: vec![Part::text("hello?")],
        ..Message::default()
    };
    let new = NewTask {
        tenant: String::new(),
        repeat: Repeat { hash: [u8::try_from(number).unwrap(); 32], window: Duration::from_secs(1) },
        message,
        new_context: true,
        settings: None,
        push: None,
        command: None,
        conversational: false,
    };
    let Sent::Task { watch, .. } = engine.begin(&Principal::local(), new).await.unwrap() else { panic!() };
    let (mut ended, mut said, mut waited) = (TaskState::Unspecified, String::new(), 0);
    let mut events = watch.events(0);
    while let Some(together) = events.next().await {
        for event in together.unwrap().iter() {
            match &event.event {
                Some(Event::Text(text)) => said.push_str(&text.text),
                Some(Event::Thought(thought)) => {
                    waited += usize::from(thought.subject == "Waiting for the model")
                }
                Some(Event::State(state)) => ended = state.state(),
                _ => {}
            }
        }
    }
    (ended, said, waited)
}
