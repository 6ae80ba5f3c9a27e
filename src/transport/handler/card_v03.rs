//! 0.3's extended card over HTTP. Everything else below `/v1` is ProtoJSON, but the SDK of 0.3 reads this one as the
//! public card is printed, and stumbles over the protobuf's way to say which keys are needed.

use std::sync::Arc;

use http::StatusCode;
use tonic::Status;

use crate::domain::dialect::Dialect;
use crate::projection::v03::card::Card;
use crate::proto::a2a::GetExtendedAgentCardRequest;
use crate::proto::a2a::a2a_service_server::A2aService;
use crate::service::a2a::A2a;
use crate::transcode::{Body, Call, Response, Route, Rule, copy_metadata, error, json, unprintable};

static RULE: Rule =
    Rule { rpc: "", method: "GET", template: "/v1/card", body: Body::None, response_body: None };

/// Stands in for the route that the annotation makes.
pub fn route(service: &Arc<A2a>) -> Route {
    let service = Arc::clone(service);
    Route::plain(&RULE, move |call| {
        let service = Arc::clone(&service);
        async move { answer(&service, &call).await.unwrap_or_else(|status| error(&status, call.media)) }
    })
}

async fn answer(service: &A2a, call: &Call) -> Result<Response, Status> {
    let mut request = call.request(GetExtendedAgentCardRequest::default());
    request.extensions_mut().insert(Dialect::V03);
    let (metadata, card, _) = service.get_extended_agent_card(request).await?.into_parts();
    let body = serde_json::to_vec(&Card(&card)).map_err(unprintable)?;
    let mut response = json(StatusCode::OK, call.media, body);
    copy_metadata(metadata.into_headers(), response.headers_mut());
    Ok(response)
}
