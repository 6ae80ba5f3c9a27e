//! What an account needs before it can be used, by what the server says of it. Pure.

use crate::domain::model::{ModelCause, ModelError};
use crate::proto::codeassist::{
    ClientMetadata, IneligibleTier, LoadCodeAssistRequest, LoadCodeAssistResponse, OnboardUserOperation,
    OnboardUserRequest, UserTier,
};

const FREE: &str = "free-tier";
const STANDARD: &str = "standard-tier";
/// For those who are offered nothing else.
const LEGACY: &str = "legacy-tier";

/// An account that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setup {
    pub project: String,
    pub tier: String,
}

#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Ready(Setup),
    Onboard(OnboardUserRequest),
}

pub(super) fn load(project: Option<&str>) -> LoadCodeAssistRequest {
    LoadCodeAssistRequest {
        cloudaicompanion_project: project.unwrap_or_default().to_owned(),
        metadata: Some(client(project)),
    }
}

fn client(project: Option<&str>) -> ClientMetadata {
    ClientMetadata {
        ide_type: "IDE_UNSPECIFIED".to_owned(),
        platform: "PLATFORM_UNSPECIFIED".to_owned(),
        plugin_type: "GEMINI".to_owned(),
        duet_project: project.unwrap_or_default().to_owned(),
    }
}

pub(super) fn next(loaded: &LoadCodeAssistResponse, project: Option<&str>) -> Result<Next, ModelError> {
    let Some(current) = &loaded.current_tier else {
        return onboarding(loaded, project).map(Next::Onboard);
    };
    let tier = loaded.paid_tier.as_ref().filter(|paid| !paid.id.is_empty()).unwrap_or(current);
    setup(&loaded.cloudaicompanion_project, &tier.id, loaded, project).map(Next::Ready)
}

/// What came of it.
pub(super) fn onboarded(
    operation: OnboardUserOperation,
    tier: &str,
    loaded: &LoadCodeAssistResponse,
    project: Option<&str>,
) -> Result<Setup, ModelError> {
    if let Some(error) = operation.error {
        return Err(denied(format!("the account could not be set up: {}", error.message)));
    }
    let given = operation.response.and_then(|response| response.cloudaicompanion_project);
    setup(&given.unwrap_or_default().id, tier, loaded, project)
}

/// The server's project counts before ours.
fn setup(
    given: &str,
    tier: &str,
    loaded: &LoadCodeAssistResponse,
    project: Option<&str>,
) -> Result<Setup, ModelError> {
    let tier = if tier.is_empty() { STANDARD } else { tier }.to_owned();
    match (given, project) {
        ("", None) => Err(without_project(loaded)),
        ("", Some(project)) => Ok(Setup { project: project.to_owned(), tier }),
        (given, _) => Ok(Setup { project: given.to_owned(), tier }),
    }
}

fn onboarding(
    loaded: &LoadCodeAssistResponse,
    project: Option<&str>,
) -> Result<OnboardUserRequest, ModelError> {
    let unproven =
        |tier: &&IneligibleTier| tier.reason_code == "VALIDATION_REQUIRED" && !tier.validation_url.is_empty();
    if let Some(tier) = loaded.ineligible_tiers.iter().find(unproven) {
        return Err(denied(format!("{} Prove who you are at {}", sentence(tier), tier.validation_url)));
    }
    let offered: Option<&UserTier> = loaded.allowed_tiers.iter().find(|tier| tier.is_default);
    let tier = offered.map_or(LEGACY, |tier| if tier.id.is_empty() { STANDARD } else { &tier.id });
    // The free tier has a project of the server's, and refuses another one.
    let project = project.filter(|_| tier != FREE);
    Ok(OnboardUserRequest {
        tier_id: tier.to_owned(),
        cloudaicompanion_project: project.unwrap_or_default().to_owned(),
        metadata: Some(client(project)),
    })
}

fn without_project(loaded: &LoadCodeAssistResponse) -> ModelError {
    let reasons: Vec<String> = loaded.ineligible_tiers.iter().map(sentence).collect();
    let remedy = "Configure the id of a project of Google Cloud (GOOGLE_CLOUD_PROJECT)";
    match reasons.as_slice() {
        [] => denied(format!("this account needs a project. {remedy}")),
        reasons => denied(format!("this account is not eligible: {} {remedy}", reasons.join(" "))),
    }
}

/// In the server's words.
fn sentence(tier: &IneligibleTier) -> String {
    let words = [&tier.reason_message, &tier.reason_code].into_iter().find(|words| !words.is_empty());
    let words = words.map_or("for an unknown reason", |words| words.trim().trim_end_matches('.'));
    match tier.tier_name.as_str() {
        "" => format!("{words}."),
        name => format!("{name}: {words}."),
    }
}

fn denied(message: String) -> ModelError {
    ModelError::new(ModelCause::Denied, format!("{}: {message}", super::NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor::decode;

    fn shown(loaded: &str, project: Option<&str>) -> String {
        match next(&decode(loaded.as_bytes()).unwrap(), project) {
            Ok(Next::Ready(setup)) => format!("{} {}", setup.project, setup.tier),
            Ok(Next::Onboard(request)) => {
                let metadata = request.metadata.unwrap();
                assert_eq!(metadata.duet_project, request.cloudaicompanion_project);
                format!("onboard {} [{}]", request.tier_id, request.cloudaicompanion_project)
            }
            Err(error) => {
                assert_eq!(error.cause, ModelCause::Denied);
                error.message
            }
        }
    }

    #[test]
    fn an_account_is_used_onboarded_or_refused() {
        let need = "Gemini Code Assist: this account needs a project. Configure the id of a project of Google Cloud (GOOGLE_CLOUD_PROJECT)";
        for (loaded, project, expected) in [
            (
                r#"{"currentTier":{"id":"free-tier"},"cloudaicompanionProject":"given"}"#,
                None,
                "given free-tier",
            ),
            (
                r#"{"currentTier":{"id":"free-tier"},"cloudaicompanionProject":"given"}"#,
                Some("own"),
                "given free-tier",
            ),
            (r#"{"currentTier":{"id":"a"},"paidTier":{"id":"b"}}"#, Some("own"), "own b"),
            (r#"{"currentTier":{},"paidTier":{}}"#, Some("own"), "own standard-tier"),
            (r#"{"currentTier":{"id":"a"}}"#, None, need),
            (
                r#"{"currentTier":{"id":"a"},"ineligibleTiers":[{"reasonCode":"UNSUPPORTED_LOCATION","reasonMessage":"Not here.","tierName":"Free"},{"reasonCode":"X"}]}"#,
                None,
                "Gemini Code Assist: this account is not eligible: Free: Not here. X. Configure the id of a project of Google Cloud (GOOGLE_CLOUD_PROJECT)",
            ),
            (
                r#"{"allowedTiers":[{"id":"x"},{"id":"free-tier","isDefault":true}]}"#,
                Some("own"),
                "onboard free-tier []",
            ),
            (
                r#"{"allowedTiers":[{"id":"standard-tier","isDefault":true}]}"#,
                Some("own"),
                "onboard standard-tier [own]",
            ),
            (r#"{"allowedTiers":[{"isDefault":true}]}"#, None, "onboard standard-tier []"),
            (r#"{"allowedTiers":[{"id":"x"}]}"#, Some("own"), "onboard legacy-tier [own]"),
            (r#"{}"#, None, "onboard legacy-tier []"),
            (
                r#"{"ineligibleTiers":[{"reasonCode":"VALIDATION_REQUIRED","reasonMessage":"Verify your account","validationUrl":"https://v"}]}"#,
                None,
                "Gemini Code Assist: Verify your account. Prove who you are at https://v",
            ),
        ] {
            assert_eq!(shown(loaded, project), expected, "{loaded}");
        }
    }

    #[test]
    fn onboarding_ends_with_a_project_or_with_words() {
        let told = |operation: &str, project| {
            onboarded(decode(operation.as_bytes()).unwrap(), "t", &LoadCodeAssistResponse::default(), project)
                .map_or_else(|error| error.message, |setup| format!("{} {}", setup.project, setup.tier))
        };
        let given = r#"{"done":true,"response":{"cloudaicompanionProject":{"id":"given"}}}"#;
        assert_eq!(told(given, Some("own")), "given t");
        assert_eq!(told(r#"{"done":true,"response":{}}"#, Some("own")), "own t");
        assert!(told(r#"{"done":true}"#, None).contains("needs a project"));
        let failed = r#"{"done":true,"error":{"code":9,"message":"no terms accepted"}}"#;
        assert_eq!(
            told(failed, Some("own")),
            "Gemini Code Assist: the account could not be set up: no terms accepted"
        );
    }
}
