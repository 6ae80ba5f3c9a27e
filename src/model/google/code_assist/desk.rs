//! Where an account is set up: asks who the user is, and onboards them if need be, which takes a while.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::NAME;
use super::plan::{self, Next, Setup};
use crate::domain::model::{ModelCause, ModelError};
use crate::model::google::credentials::{TokenSource, forget};
use crate::model::google::error;
use crate::model::google::wire::encoded;
use crate::model::http::{Answer, Call, Http};
use crate::proto::codeassist::{LoadCodeAssistResponse, OnboardUserOperation, OnboardUserRequest, UserTier};
use crate::proto::vendor;

const LONGEST: usize = 1 << 20;
/// Five minutes at the usual pace.
const POLLS: usize = 60;

pub(super) struct Desk {
    pub http: Http,
    /// With the version.
    pub base: String,
    pub tokens: Arc<dyn TokenSource>,
    pub project: Option<String>,
    pub poll: Duration,
    pub origin: String,
}

impl Desk {
    pub(super) fn url(&self, verb: &str) -> String {
        format!("{}:{verb}", self.base)
    }

    pub(super) async fn set_up(&self) -> Result<Setup, ModelError> {
        let project = self.project.as_deref();
        let loaded = self.load().await?;
        let setup = match plan::next(&loaded, project)? {
            Next::Ready(setup) => setup,
            Next::Onboard(request) => {
                tracing::info!(tier = request.tier_id, "setting the account up for Code Assist");
                let operation = self.onboard(&request).await?;
                plan::onboarded(operation, &request.tier_id, &loaded, project)?
            }
        };
        tracing::info!(project = setup.project, tier = setup.tier, "the account can use Code Assist");
        Ok(setup)
    }

    async fn load(&self) -> Result<LoadCodeAssistResponse, ModelError> {
        let call = Call::post(self.url("loadCodeAssist"), encoded(&plan::load(self.project.as_deref()))?);
        let (status, body) = self.ask(call).await?;
        // Such accounts may use it, though not look at themselves.
        if status != 200 && is_behind_a_perimeter(&body) {
            let tier = UserTier { id: "standard-tier".to_owned(), ..UserTier::default() };
            return Ok(LoadCodeAssistResponse { current_tier: Some(tier), ..Default::default() });
        }
        self.read(status, &body)
    }

    async fn onboard(&self, request: &OnboardUserRequest) -> Result<OnboardUserOperation, ModelError> {
        let (status, body) = self.ask(Call::post(self.url("onboardUser"), encoded(request)?)).await?;
        let mut operation: OnboardUserOperation = self.read(status, &body)?;
        let name = operation.name.clone();
        for _ in 0..POLLS {
            if operation.done || name.is_empty() {
                return Ok(operation);
            }
            tokio::time::sleep(self.poll).await;
            let (status, body) = self.ask(Call::get(format!("{}/{name}", self.base))).await?;
            operation = self.read(status, &body)?;
        }
        let message = format!("{NAME} is still setting the account up: try again in some minutes");
        Err(ModelError::new(ModelCause::Unavailable, message))
    }

    /// A token that was refused is renewed once.
    async fn ask(&self, call: Call) -> Result<(u16, Bytes), ModelError> {
        let first = self.tokens.token().await?.sign(call.clone());
        let credentials = first.headers.get(AUTHORIZATION).cloned();
        let answer = self.http.send(first).await?;
        if answer.status.as_u16() != 401 || !forget(&*self.tokens, credentials.as_ref()) {
            return whole(answer).await;
        }
        let second = self.tokens.token().await?.sign(call);
        whole(self.http.send(second).await?).await
    }

    fn read<T: DeserializeOwned>(&self, status: u16, body: &[u8]) -> Result<T, ModelError> {
        if !(200..300).contains(&status) {
            let error = error::refusal(NAME, &self.origin, status, body);
            return Err(ModelError { message: self.tokens.blot(&error.message), ..error });
        }
        let unread = |bad| ModelError::new(ModelCause::Broken, format!("{NAME} gave no account: {bad}"));
        vendor::decode(body).map_err(unread)
    }
}

async fn whole(answer: Answer) -> Result<(u16, Bytes), ModelError> {
    Ok((answer.status.as_u16(), answer.whole(LONGEST).await?))
}

/// VPC service controls keep the question from the server, not the use.
fn is_behind_a_perimeter(body: &[u8]) -> bool {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let details = body.pointer("/error/details").and_then(Value::as_array);
    details.into_iter().flatten().any(|detail| detail["reason"] == "SECURITY_POLICY_VIOLATED")
}
