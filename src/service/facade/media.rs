//! Pictures and documents that a request only names.

use crate::domain::error::Error;
use crate::facade::Remote;
use crate::proto::gemini::GenerateContentRequest;

#[derive(Clone, Default)]
pub struct Media;

impl Media {
    pub async fn fetch(
        &self,
        request: GenerateContentRequest,
        remote: &[Remote],
    ) -> Result<GenerateContentRequest, Error> {
        match remote.first() {
            None => Ok(request),
            Some(Remote { field, .. }) => {
                Err(Error::field(field, "lies elsewhere, and nothing is fetched; send a data: URL"))
            }
        }
    }
}
