//! Many calls in one answer, decided at random: nothing hangs, nothing runs twice or unapproved, and the order holds.

use serde_json::{Value, json};

use super::kit::{Bench, Heard, decision, script, shell, write};

/// As many calls as an answer has.
const CALLS: usize = 50;
const RUNS: u64 = 12;

/// A small generator, so that a run can be repeated by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn call(index: usize, dice: &mut Dice) -> (&'static str, Value) {
    match dice.roll(4) {
        0 => ("read_file", json!({"file_path": "seed.txt"})),
        1 => ("list_directory", json!({"dir_path": "."})),
        2 => write(&format!("w{index}"), "x"),
        _ => shell(&format!("echo {index} >> ran")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_calls_with_random_decisions_always_come_to_an_end() {
    let mut ended = 0;
    for seed in 1..=RUNS {
        let mut dice = Dice(seed);
        let calls: Vec<_> = (0..CALLS).map(|index| call(index, &mut dice)).collect();
        let bench = Bench::start(&script(&calls)).await;
        std::fs::write(bench.path("seed.txt"), "seed").unwrap();
        let mut approved = Vec::new();
        let mut heard = bench.talk().ask("go").await;
        let mut trail = heard.clone();
        while heard.state() == "input-required" {
            let decisions = decide(&heard, &mut dice, &mut approved);
            let task = heard.task();
            if dice.roll(20) == 0 {
                let cancelled = bench.talk().call("tasks/cancel", json!({"id": task})).await;
                assert_eq!(cancelled["status"]["state"], "canceled", "seed {seed}: {cancelled}");
                break;
            }
            heard = bench.talk().decide(&task, &decisions).await;
            assert!(heard.error().is_null(), "seed {seed}: {:?}", heard.0);
            trail.0.extend(heard.0.clone());
        }
        if heard.state() == "completed" {
            check(&bench, &trail, &approved, seed);
            ended += 1;
        }
    }
    assert!((1..RUNS).contains(&ended), "{ended} of {RUNS} were not cancelled");
}

/// Some of what is asked for, in any order.
fn decide(heard: &Heard, dice: &mut Dice, approved: &mut Vec<String>) -> Vec<Value> {
    let asked = heard.asked();
    assert!(!asked.is_empty(), "{:?}", heard.0.last());
    let count = 1 + usize::try_from(dice.roll(asked.len() as u64)).unwrap();
    let mut decisions: Vec<Value> = asked
        .iter()
        .take(count)
        .map(|call| {
            let yes = dice.roll(3) > 0;
            if yes {
                approved.push(call["tool_call_id"].as_str().unwrap().to_owned());
            }
            decision(call, if yes { "proceed_once" } else { "cancel" })
        })
        .collect();
    if dice.roll(2) == 0 {
        decisions.reverse();
    }
    decisions
}

fn check(bench: &Bench, trail: &Heard, approved: &[String], seed: u64) {
    let updates = trail.calls();
    let (mut started, mut ended) = (Vec::new(), Vec::new());
    for update in &updates {
        let id = update["tool_call_id"].as_str().unwrap().to_owned();
        match update["status"].as_str().unwrap() {
            "EXECUTING" if update.get("live_content").is_none() => started.push(id),
            "SUCCEEDED" | "FAILED" | "CANCELLED" => ended.push(id),
            _ => {}
        }
    }
    let once = |mut ids: Vec<String>| {
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "seed {seed}: something happened twice");
        ids
    };
    let (started, ended) = (once(started), once(ended));
    assert_eq!(ended.len(), CALLS, "seed {seed}: every call has one end");
    for update in updates.iter().filter(|update| update["status"] == "EXECUTING") {
        let asks = ["write_file", "run_shell_command"].contains(&update["tool_name"].as_str().unwrap());
        let id = update["tool_call_id"].as_str().unwrap().to_owned();
        assert!(!asks || approved.contains(&id), "seed {seed}: {id} ran without approval");
    }
    assert!(approved.iter().all(|id| started.contains(id)), "seed {seed}: what was approved ran");
    let ran: Vec<usize> = bench.read("ran").lines().map(|line| line.parse().unwrap()).collect();
    assert!(ran.is_sorted(), "seed {seed}: commands ran in another order: {ran:?}");
}
