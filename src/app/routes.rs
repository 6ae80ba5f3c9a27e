//! Every service and every path of the port, and how they are mounted.

use std::sync::Arc;
use std::time::SystemTime;

use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tonic_health::server::HealthReporter;

use super::StartError;
use super::facades::{self, Facades};
use crate::config::Settings;
use crate::projection::v03::rest::rest_body;
use crate::proto::a2a::a2a_service_http;
use crate::proto::a2a::a2a_service_server::{A2aServiceServer, SERVICE_NAME as A2A_NAME};
use crate::proto::a2a_v03::a2a_service_server::SERVICE_NAME as A2A_V03_NAME;
use crate::proto::devtool::development_tool_service_http;
use crate::proto::devtool::development_tool_service_server::{
    DevelopmentToolServiceServer, SERVICE_NAME as DEVTOOL_NAME,
};
use crate::proto::{self, a2a_v03};
use crate::service::a2a::A2a;
use crate::service::a2a_v03::A2aV03;
use crate::service::devtool::DevTool;
use crate::telemetry::metrics::Metrics;
use crate::transcode::{Body, Mount, Route, Router, Rule, Slash, Tenants, Unknown};
use crate::transport::handler::{card_v03, coder, console, health, jsonrpc, metrics, well_known};

/// What health and reflection tell of.
pub(super) fn services() -> impl Iterator<Item = &'static str> {
    [A2A_NAME, A2A_V03_NAME, DEVTOOL_NAME].into_iter().chain(facades::SERVICES)
}

/// A2A ignores what it does not know, in a query as in a body.
const A2A_ROOT: Mount = Mount { tenants: Tenants::Drop, unknown: Unknown::Ignore, ..Mount::ROOT };
const A2A_TENANTS: Mount = Mount { prefix: &["a2a"], unknown: Unknown::Ignore, ..Mount::ROOT };
/// Clients of 0.3 disagree on how their REST bodies are spelled; both ways are read.
const A2A_V03: Mount = Mount { unknown: Unknown::Ignore, spelling: Some(rest_body), ..Mount::ROOT };
/// Some clients put a slash behind the address that the card gives them.
const RPC: Mount = Mount { slash: Slash::Ignore, unknown: Unknown::Ignore, ..Mount::ROOT };

/// 1.0's annotation says GET, its prose POST. Both are served.
static SUBSCRIBE: Rule = post("/tasks/{id=*}:subscribe");
static SUBSCRIBE_TENANT: Rule = post("/{tenant}/tasks/{id=*}:subscribe");
static SUBSCRIBE_V03: Rule = post("/v1/{name=tasks/*}:subscribe");
/// 0.3's annotation says `task/*`, its prose `tasks`.
static CREATE_PUSH_V03: Rule =
    Rule { body: Body::Field("config"), ..post("/v1/{parent=tasks/*}/pushNotificationConfigs") };

const fn post(template: &'static str) -> Rule {
    Rule { rpc: "", method: "POST", template, body: Body::None, response_body: None }
}

pub(super) fn router(
    settings: &Settings,
    a2a: &Arc<A2a>,
    v03: &Arc<A2aV03>,
    devtool: &Arc<DevTool>,
    metrics: &Arc<Metrics>,
    facades: &Facades,
) -> Result<Router, StartError> {
    let native = with(a2a_service_http::routes(a2a), "/SubscribeToTask", &SUBSCRIBE);
    let native = with(native, "/SubscribeToTask", &SUBSCRIBE_TENANT);
    let legacy = with(a2a_v03::a2a_service_http::routes(v03), "/TaskSubscription", &SUBSCRIBE_V03);
    let legacy = with(legacy, "/CreateTaskPushNotificationConfig", &CREATE_PUSH_V03);
    let legacy = instead(legacy, card_v03::route(a2a));
    let mut router = Router::default();
    router.mount(Mount::ROOT, health::routes())?;
    router.mount(Mount::ROOT, metrics::routes(metrics))?;
    router.mount(Mount::ROOT, well_known::routes(a2a.card(), SystemTime::now())?)?;
    if settings.console {
        router.mount(Mount::ROOT, console::routes())?;
    }
    router.mount(RPC, jsonrpc::routes(a2a))?;
    router.mount(Mount::ROOT, coder::routes(a2a))?;
    router.mount(A2A_ROOT, native.clone())?;
    router.mount(A2A_TENANTS, native)?;
    router.mount(A2A_V03, legacy)?;
    router.mount(Mount::ROOT, development_tool_service_http::routes(devtool))?;
    facades.mount(&mut router)?;
    Ok(router)
}

/// The same routes, and one of them at a second place.
fn with(mut routes: Vec<Route>, rpc: &str, rule: &'static Rule) -> Vec<Route> {
    let found = routes.iter().find(|route| route.rule().rpc.ends_with(rpc)).map(|route| route.also(rule));
    routes.extend(found);
    routes
}

/// The same routes, with another one at a place that one of them has.
fn instead(mut routes: Vec<Route>, route: Route) -> Vec<Route> {
    routes.retain(|other| other.rule().template != route.rule().template);
    routes.push(route);
    routes
}

pub(super) async fn grpc(
    settings: &Settings,
    a2a: &Arc<A2a>,
    v03: &Arc<A2aV03>,
    devtool: &Arc<DevTool>,
    facades: &Facades,
) -> Result<(Routes, HealthReporter), StartError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    let a2a = A2aServiceServer::from_arc(Arc::clone(a2a))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(settings.limits.message_bytes);
    let v03 = a2a_v03::a2a_service_server::A2aServiceServer::from_arc(Arc::clone(v03))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(settings.limits.message_bytes);
    let devtool = DevelopmentToolServiceServer::from_arc(Arc::clone(devtool))
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(settings.limits.message_bytes);
    for name in services() {
        health.set_service_status(name, tonic_health::ServingStatus::Serving).await;
    }
    let routes = Routes::new(health_service).add_service(a2a).add_service(v03).add_service(devtool);
    let mut routes = facades.serve(settings, routes);
    if settings.reflection {
        let reflection = || {
            let builder = tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
                .with_service_name("grpc.health.v1.Health");
            services().fold(builder, |builder, name| builder.with_service_name(name))
        };
        routes = routes.add_service(reflection().build_v1()?).add_service(reflection().build_v1alpha()?);
    }
    Ok((routes, health))
}
