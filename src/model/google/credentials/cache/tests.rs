//! Who waits, who does not, and how often the source is asked.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use super::*;

/// Gives `t1`, `t2`, ... for an hour each, whenever the gate lets it, or what `fails` says.
struct Script {
    asked: AtomicUsize,
    gate: Semaphore,
    failing: AtomicUsize,
    refused: Mutex<Vec<Option<String>>>,
    clock: AtomicU64,
}

impl Script {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.clock.load(Ordering::Relaxed))
    }

    fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }
}

struct Scripted(Arc<Script>);

#[async_trait]
impl Source for Scripted {
    async fn fetch(&self, refused: Option<&Secret>) -> Outcome {
        let number = self.0.asked.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.refused.lock().unwrap().push(refused.map(|secret| secret.expose().to_owned()));
        self.0.gate.acquire().await.unwrap().forget();
        assert_ne!(number, 99, "a panic is wanted here");
        if self.0.failing.load(Ordering::Relaxed) > 0 {
            return Err(ModelError::new(ModelCause::Unavailable, format!("failure {number}")));
        }
        let expires = Some(self.0.now() + Duration::from_secs(3600));
        Ok(Token { secret: Secret::new(format!("t{number}")), expires, quota_project: None })
    }
}

fn setup(open: usize) -> (Arc<Script>, Arc<Cache>) {
    let script = Arc::new(Script {
        asked: AtomicUsize::new(0),
        gate: Semaphore::new(open),
        failing: AtomicUsize::new(0),
        refused: Mutex::default(),
        clock: AtomicU64::new(1_000_000),
    });
    let now: Now = Arc::new({
        let script = Arc::clone(&script);
        move || script.now()
    });
    (Arc::clone(&script), Arc::new(Cache::new(Scripted(script), now)))
}

async fn shown(cache: &Cache) -> String {
    let told = tokio::time::timeout(Duration::from_secs(5), cache.token()).await.unwrap();
    told.map_or_else(|error| error.message, |token| token.secret.expose().to_owned())
}

/// A renewal that nobody waits for has ended.
async fn settled(cache: &Cache) {
    let flight = cache.inner.state().flight.clone();
    if let Some(flight) = flight {
        let _ = tokio::time::timeout(Duration::from_secs(5), flight).await.unwrap();
    }
}

#[tokio::test]
async fn a_hundred_callers_make_one_renewal() {
    let (script, cache) = setup(0);
    let callers = (0..100).map(|_| {
        let cache = Arc::clone(&cache);
        tokio::spawn(async move { shown(&cache).await })
    });
    let callers: Vec<_> = callers.collect();
    tokio::task::yield_now().await;
    script.gate.add_permits(1);
    for told in futures::future::join_all(callers).await {
        assert_eq!(told.unwrap(), "t1");
    }
    assert_eq!(script.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_hundred_callers_share_one_failure_and_the_next_tries_again() {
    let (script, cache) = setup(0);
    script.failing.store(1, Ordering::Relaxed);
    let callers = (0..100).map(|_| {
        let cache = Arc::clone(&cache);
        tokio::spawn(async move { shown(&cache).await })
    });
    let callers: Vec<_> = callers.collect();
    // All of them are waiting, as this runtime has one thread.
    tokio::task::yield_now().await;
    script.gate.add_permits(2);
    for told in futures::future::join_all(callers).await {
        assert_eq!(told.unwrap(), "failure 1");
    }
    script.failing.store(0, Ordering::Relaxed);
    assert_eq!(shown(&cache).await, "t2");
}

#[tokio::test]
async fn a_token_is_kept_until_shortly_before_it_expires_and_then_nobody_waits() {
    let (script, cache) = setup(1);
    assert_eq!(shown(&cache).await, "t1");
    script.pass(3600 - 226);
    assert_eq!(shown(&cache).await, "t1");
    assert_eq!(script.asked.load(Ordering::Relaxed), 1);
    script.pass(1);
    // The gate is closed: whoever waited would wait for good.
    for _ in 0..10 {
        assert_eq!(shown(&cache).await, "t1");
    }
    script.gate.add_permits(1);
    settled(&cache).await;
    assert_eq!(shown(&cache).await, "t2");
    assert_eq!(script.asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_failed_renewal_leaves_the_old_token_and_rests() {
    let (script, cache) = setup(9);
    assert_eq!(shown(&cache).await, "t1");
    script.failing.store(1, Ordering::Relaxed);
    script.pass(3600 - 200);
    for _ in 0..5 {
        assert_eq!(shown(&cache).await, "t1");
        settled(&cache).await;
    }
    assert_eq!(script.asked.load(Ordering::Relaxed), 2);
    script.pass(10);
    assert_eq!(shown(&cache).await, "t1");
    settled(&cache).await;
    assert_eq!(script.asked.load(Ordering::Relaxed), 3);
    script.pass(181);
    assert_eq!(shown(&cache).await, "failure 4");
}

#[tokio::test]
async fn a_refused_token_is_not_given_again_and_its_successor_is_safe() {
    let (script, cache) = setup(9);
    assert_eq!(shown(&cache).await, "t1");
    cache.forget(&Secret::new("t1"));
    assert_eq!(shown(&cache).await, "t2");
    // Told late, by somebody who had the first one too.
    cache.forget(&Secret::new("t1"));
    assert_eq!(shown(&cache).await, "t2");
    cache.forget(&Secret::new("t2"));
    assert_eq!(shown(&cache).await, "t3");
    let told = script.refused.lock().unwrap().clone();
    assert_eq!(told, [None, Some("t1".to_owned()), Some("t2".to_owned())]);
}

#[tokio::test]
async fn a_renewal_goes_on_when_whoever_asked_leaves() {
    let (script, cache) = setup(0);
    assert!(cache.token().now_or_never().is_none());
    script.gate.add_permits(1);
    assert_eq!(shown(&cache).await, "t1");
    assert_eq!(script.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_renewal_that_breaks_off_is_not_the_last_one() {
    let (script, cache) = setup(9);
    script.asked.store(98, Ordering::Relaxed);
    assert!(shown(&cache).await.contains("broke off"));
    assert_eq!(shown(&cache).await, "t100");
}
