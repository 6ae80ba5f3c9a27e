//! Code Assist's envelopes and its set-up of an account. Their JSON comes from the derives (`build/vendor.rs`).

pub use super::generated::agena::codeassist::v1::*;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor::{decode, encode};

    fn print<T: serde::Serialize + prost::Name>(message: &T) -> String {
        let mut out = Vec::new();
        encode(message, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn envelopes_are_printed_as_the_server_reads_them() {
        let request = r#"{"model":"gemini-x","project":"p","user_prompt_id":"u","request":{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"session_id":"s"}}"#;
        assert_eq!(print(&decode::<GenerateContentRequest>(request.as_bytes()).unwrap()), request);
        let count =
            r#"{"request":{"model":"models/gemini-x","contents":[{"role":"user","parts":[{"text":"hi"}]}]}}"#;
        let read: CountTokensRequest = decode(count.as_bytes()).unwrap();
        assert_eq!(read.request.as_ref().unwrap().model, "gemini-x");
        assert_eq!(print(&read), count);
        let load = r#"{"cloudaicompanionProject":"p","metadata":{"ideType":"IDE_UNSPECIFIED","platform":"PLATFORM_UNSPECIFIED","pluginType":"GEMINI","duetProject":"p"}}"#;
        assert_eq!(print(&decode::<LoadCodeAssistRequest>(load.as_bytes()).unwrap()), load);
    }

    #[test]
    fn answers_are_read_with_whatever_else_they_say() {
        let answer = br#"{"response":{"candidates":[{"finishReason":"STOP"}],"modelVersion":"m"},"traceId":"t","consumedCredits":[{"creditType":"X","creditAmount":"5"}]}"#;
        let read: GenerateContentResponse = decode(answer).unwrap();
        assert_eq!((read.trace_id.as_str(), read.response.unwrap().model_version.as_str()), ("t", "m"));
        let load = br#"{"currentTier":null,"allowedTiers":[{"id":"free-tier","name":"Free","isDefault":true,"privacyNotice":{"showNotice":true}}],"ineligibleTiers":null,"gcpManaged":false}"#;
        let read: LoadCodeAssistResponse = decode(load).unwrap();
        assert_eq!(read.current_tier, None);
        assert!(read.allowed_tiers[0].is_default && read.ineligible_tiers.is_empty());
        let operation = br#"{"name":"operations/1","metadata":{"@type":"x"},"done":true,"response":{"@type":"y","cloudaicompanionProject":{"id":"p","name":"n","projectNumber":"1"}}}"#;
        let read: OnboardUserOperation = decode(operation).unwrap();
        assert_eq!(read.response.unwrap().cloudaicompanion_project.unwrap().id, "p");
    }
}
