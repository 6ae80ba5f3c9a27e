//! Answers on the shelf: stored, found again, and put together to what was said before.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use prost::Message;

use crate::domain::error::{Cause, Error};
use crate::domain::principal::Principal;
use crate::domain::shelf::{self, Kind, Shelf};
use crate::domain::store::StoreError;
use crate::facade::openai::responses::{id, named, places, resolve};
use crate::proto::openai::{Item, Response, StoredResponse};

/// A conversation of more answers than this is a mistake.
const LONGEST: usize = 2000;
/// What is stored for one principal; behind it the oldest answers go.
const STORED: u64 = 1 << 30;

#[derive(Clone)]
pub(super) struct Desk {
    shelf: Arc<dyn Shelf>,
    keep: Duration,
    /// How large all that was said before may be, in bytes.
    most: usize,
}

fn failed(error: StoreError) -> Error {
    Error::new(Cause::Internal, error.to_string())
}

impl Desk {
    pub(super) fn new(shelf: Arc<dyn Shelf>, keep: Duration, most: usize) -> Self {
        Self { shelf, keep, most }
    }

    pub(super) async fn put(
        &self,
        who: &Principal,
        response: Response,
        mut input: Vec<Item>,
    ) -> Result<(), Error> {
        named(&mut input, &response.id);
        let key = response.id.clone();
        let value = StoredResponse { response: Some(response), input }.encode_to_vec();
        let until = SystemTime::now() + self.keep;
        let item = shelf::Item { kind: Kind::Response, key, value, until };
        self.shelf.put(who, vec![item]).await.map_err(failed)?;
        self.shelf.trim(who, Kind::Response, STORED).await.map_err(failed)?;
        Ok(())
    }

    /// None if it is not there, no longer, or another's.
    pub(super) async fn find(&self, who: &Principal, id: &str) -> Result<Option<StoredResponse>, Error> {
        let keys = vec![id.to_owned()];
        let found = self.shelf.get(who, Kind::Response, keys, SystemTime::now()).await.map_err(failed)?;
        let Some(bytes) = found.into_iter().next().flatten() else { return Ok(None) };
        let damaged = |e| Error::new(Cause::Internal, format!("the stored answer {id} cannot be read: {e}"));
        StoredResponse::decode(bytes.as_slice()).map(Some).map_err(damaged)
    }

    pub(super) async fn get(&self, who: &Principal, id: &str) -> Result<StoredResponse, Error> {
        let missing = || {
            let words = format!("there is no response `{id}`: it was not stored, is too old, or was deleted");
            Error::new(Cause::ResponseNotFound, words)
        };
        self.find(who, id).await?.ok_or_else(missing)
    }

    pub(super) async fn remove(&self, who: &Principal, id: &str) -> Result<bool, Error> {
        self.shelf.remove(who, Kind::Response, id).await.map_err(failed)
    }

    /// What was said up to and with this answer, the oldest first.
    pub(super) async fn chain(&self, who: &Principal, last: &str) -> Result<Vec<Item>, Error> {
        let (mut answers, mut length) = (Vec::new(), 0);
        let mut next = Some(last.to_owned());
        while let Some(id) = next.take().filter(|_| answers.len() < LONGEST) {
            let lost = || {
                let words = format!(
                    "there is no response `{id}` to go on from: it was not stored, is too old, or was deleted"
                );
                Error::field("previous_response_id", words)
            };
            let stored = self.find(who, &id).await?.ok_or_else(lost)?;
            length += stored.encoded_len();
            if length > self.most {
                let words = format!(
                    "previous_response_id: what was said before is larger than {} bytes; send a summary of it in `input` instead",
                    self.most
                );
                return Err(Error::new(Cause::ContextTooLong, words));
            }
            let response = stored.response.as_ref();
            next = response.and_then(|response| response.previous_response_id.clone());
            answers.push(stored);
        }
        let items = |stored: StoredResponse| {
            stored.input.into_iter().chain(stored.response.unwrap_or_default().output)
        };
        Ok(answers.into_iter().rev().flat_map(items).collect())
    }

    /// Puts stored items in the place of references to them.
    pub(super) async fn dereference(
        &self,
        who: &Principal,
        items: &mut [Item],
        earlier: &[Item],
    ) -> Result<(), Error> {
        if !items.iter().any(is_reference) {
            return Ok(());
        }
        let places = places(items);
        let mut known = earlier.to_vec();
        known.extend(items.iter().filter(|item| !is_reference(item) && !id(item).is_empty()).cloned());
        for place in &places {
            if let Some(stored) = self.find(who, place).await? {
                known.extend(stored.input.into_iter().chain(stored.response.unwrap_or_default().output));
            }
        }
        resolve(items, &known, self.most)
    }
}

fn is_reference(item: &Item) -> bool {
    matches!(item.item, Some(crate::proto::openai::item::Item::ItemReference(_)))
}
