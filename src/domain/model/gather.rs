//! An answer put together from its chunks. Pure but for waiting for them.

use futures::StreamExt;

use super::{Chunks, ModelError};
use crate::proto::gemini::{Candidate, Content, GenerateContentResponse};

/// An answer as far as it has come.
#[derive(Debug, Default)]
pub struct Gathered(GenerateContentResponse);

impl Gathered {
    pub fn push(&mut self, chunk: GenerateContentResponse) {
        let GenerateContentResponse {
            candidates,
            prompt_feedback,
            usage_metadata,
            model_version,
            response_id,
            extra,
        } = chunk;
        let so_far = &mut self.0;
        // Cumulative: the last one counts.
        so_far.usage_metadata = usage_metadata.or(so_far.usage_metadata.take());
        so_far.prompt_feedback = prompt_feedback.or(so_far.prompt_feedback.take());
        for (member, new) in [
            (&mut so_far.model_version, model_version),
            (&mut so_far.response_id, response_id),
            (&mut so_far.extra, extra),
        ] {
            replace(member, new);
        }
        candidates.into_iter().for_each(|candidate| self.candidate(candidate));
    }

    fn candidate(&mut self, new: Candidate) {
        let all = &mut self.0.candidates;
        let Some(old) = all.iter_mut().find(|candidate| candidate.index == new.index) else {
            // Its pieces grow together too.
            let content = new.content.map(|content| grown(Content::default(), content));
            all.push(Candidate { content, ..new });
            return;
        };
        if let Some(more) = new.content {
            old.content = Some(grown(old.content.take().unwrap_or_default(), more));
        }
        if !new.safety_ratings.is_empty() {
            old.safety_ratings = new.safety_ratings;
        }
        for (member, new) in [
            (&mut old.finish_reason, new.finish_reason),
            (&mut old.finish_message, new.finish_message),
            (&mut old.citation_metadata, new.citation_metadata),
            (&mut old.grounding_metadata, new.grounding_metadata),
            (&mut old.url_context_metadata, new.url_context_metadata),
            (&mut old.continuation_token, new.continuation_token),
            (&mut old.extra, new.extra),
        ] {
            replace(member, new);
        }
    }

    pub fn finish(self) -> GenerateContentResponse {
        self.0
    }
}

fn grown(mut content: Content, more: Content) -> Content {
    replace(&mut content.role, more.role);
    more.parts.into_iter().for_each(|part| content.grow(part));
    content
}

fn replace(member: &mut String, new: String) {
    if !new.is_empty() {
        *member = new;
    }
}

pub(super) async fn whole(mut chunks: Chunks) -> Result<GenerateContentResponse, ModelError> {
    let mut gathered = Gathered::default();
    while let Some(chunk) = chunks.next().await {
        gathered.push(chunk?);
    }
    Ok(gathered.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    #[test]
    fn chunks_become_the_answer_that_would_have_come_at_once() {
        let chunks = [
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}],"modelVersion":"m","responseId":"r"}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]}},{"index":1,"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":1}}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},"finishReason":"STOP","groundingMetadata":{"a":1}}],"usageMetadata":{"promptTokenCount":2}}"#,
        ];
        let mut gathered = Gathered::default();
        for chunk in chunks {
            gathered.push(vendor::decode(chunk.as_bytes()).unwrap());
        }
        let mut out = Vec::new();
        vendor::encode(&gathered.finish(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"ab"},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},"finishReason":"STOP","groundingMetadata":{"a":1}},{"content":{"parts":[{"text":"x"}]},"index":1}],"usageMetadata":{"promptTokenCount":2},"modelVersion":"m","responseId":"r"}"#
        );
    }
}
