//! What comes back, for whom and for which backend.

use std::collections::HashMap;
use std::sync::Mutex;

use super::*;
use crate::domain::store::{Result, StoreError};
use crate::proto::gemini::part::Data;
use crate::proto::vendor;

/// In memory; gives nothing once it is broken.
#[derive(Default)]
struct Memory {
    items: Mutex<HashMap<(String, String), Item>>,
    broken: bool,
    asked: Mutex<usize>,
}

#[tonic::async_trait]
impl Shelf for Memory {
    async fn put(&self, who: &Principal, items: Vec<Item>) -> Result<()> {
        if self.broken {
            return Err(StoreError::Failed("broken".to_owned()));
        }
        let mut all = self.items.lock().unwrap();
        all.extend(items.into_iter().map(|item| ((who.name().to_owned(), item.key.clone()), item)));
        Ok(())
    }

    async fn get(
        &self,
        who: &Principal,
        kind: Kind,
        keys: Vec<String>,
        now: SystemTime,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        *self.asked.lock().unwrap() += 1;
        if self.broken {
            return Err(StoreError::Failed("broken".to_owned()));
        }
        let all = self.items.lock().unwrap();
        let one = |key: String| {
            let item = all.get(&(who.name().to_owned(), key))?;
            (item.kind == kind && item.until > now).then(|| item.value.clone())
        };
        Ok(keys.into_iter().map(one).collect())
    }

    async fn remove(&self, _: &Principal, _: Kind, _: &str) -> Result<bool> {
        Ok(false)
    }

    async fn trim(&self, _: &Principal, _: Kind, _: u64) -> Result<u64> {
        Ok(0)
    }

    async fn sweep(&self, _: SystemTime) -> Result<u64> {
        Ok(0)
    }
}

const ASK: &str = r#"{"role":"user","parts":[{"text":"hi"}]}"#;
const CALL: &str = r#"{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]}"#;

fn asking(contents: &str) -> GenerateContentRequest {
    vendor::decode(format!(r#"{{"contents":[{contents}]}}"#).as_bytes()).unwrap()
}

fn noted(upstream: &str) -> Notes {
    let answer = format!(
        r#"{{"candidates":[{{"content":{}}}]}}"#,
        CALL.replace(r#""args":{}}"#, r#""args":{}},"thoughtSignature":"S""#)
    );
    let mut notes = Notes::new(upstream.to_owned(), &asking(ASK));
    notes.see(&vendor::decode(answer.as_bytes()).unwrap());
    notes
}

fn signature(request: &GenerateContentRequest) -> &str {
    let part = &request.contents[1].parts[0];
    assert!(matches!(part.data, Some(Data::FunctionCall(_))));
    &part.thought_signature
}

async fn restored(
    ledger: &Ledger,
    who: &Principal,
    upstream: &str,
    contents: &str,
) -> GenerateContentRequest {
    let mut request = asking(contents);
    ledger.restore(who, upstream, &mut request).await;
    request
}

#[tokio::test]
async fn a_signature_comes_back_to_its_owner_from_its_backend() {
    let ann = Principal::named("ann");
    for (made, asked, who, back) in [
        ("google/gemini-3", "google/gemini-3", "ann", "S"),
        // Another model of the same backend may read it; if not, the backend mends that.
        ("google/gemini-3", "google/gemini-4", "ann", "S"),
        ("google/gemini-3", "vertex/gemini-3", "ann", ""),
        ("google/gemini-3", "", "ann", ""),
        ("", "", "ann", "S"),
        ("google/gemini-3", "google/gemini-3", "bob", ""),
        ("local/qwen3", "local/qwen3", "ann", ""),
    ] {
        let ledger = Ledger::new(Arc::new(Memory::default()), Duration::from_secs(60));
        ledger.keep(&ann, noted(made)).await;
        let found = restored(&ledger, &Principal::named(who), asked, &format!("{ASK},{CALL}")).await;
        assert_eq!(signature(&found), back, "{made} {asked} {who}");
    }
}

#[tokio::test]
async fn nobody_is_asked_without_need_and_a_broken_shelf_fails_nothing() {
    let ann = Principal::named("ann");
    let shelf = Arc::new(Memory { broken: true, ..Memory::default() });
    let ledger = Ledger::new(shelf.clone(), Duration::from_secs(60));
    let signed = CALL.replace(r#""args":{}}"#, r#""args":{}},"thoughtSignature":"own""#);
    for contents in [ASK.to_owned(), format!("{ASK},{signed}")] {
        restored(&ledger, &ann, "google/gemini-3", &contents).await;
    }
    restored(&ledger, &ann, "local/qwen3", &format!("{ASK},{CALL}")).await;
    assert_eq!(*shelf.asked.lock().unwrap(), 0);
    ledger.keep(&ann, noted("google/gemini-3")).await;
    let same = restored(&ledger, &ann, "google/gemini-3", &format!("{ASK},{CALL}")).await;
    assert_eq!((signature(&same), *shelf.asked.lock().unwrap()), ("", 1));
}

#[tokio::test]
async fn a_signature_is_forgotten_in_time() {
    let ann = Principal::named("ann");
    let ledger = Ledger::new(Arc::new(Memory::default()), Duration::ZERO);
    ledger.keep(&ann, noted("google/gemini-3")).await;
    let found = restored(&ledger, &ann, "google/gemini-3", &format!("{ASK},{CALL}")).await;
    assert_eq!(signature(&found), "");
}
