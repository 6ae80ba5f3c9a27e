//! The APIs of other vendors: their services over the models, their paths, and who is told of them.

use std::sync::Arc;

use tonic::codec::CompressionEncoding;
use tonic::service::Routes;

use super::StartError;
use super::models::Models;
use crate::config::Settings;
use crate::facade::Vendor;
use crate::proto::anthropic;
use crate::proto::anthropic::messages_service_server::MessagesServiceServer;
use crate::proto::anthropic::models_service_server::ModelsServiceServer;
use crate::proto::gemini::generative_service_server::{self, GenerativeServiceServer};
use crate::proto::gemini::model_service_server::{self, ModelServiceServer};
use crate::service::anthropic::Anthropic;
use crate::service::facade::Drive;
use crate::service::facade::guard::Guard;
use crate::service::facade::ledger::Ledger;
use crate::service::facade::media::Media;
use crate::service::gemini::Gemini;
use crate::transcode::{Mount, Router, Unknown};
use crate::transport::handler::anthropic as messages;
use crate::transport::handler::gemini;
use crate::transport::handler::models;

/// What health and reflection tell of.
pub(super) const SERVICES: [&str; 4] = [
    generative_service_server::SERVICE_NAME,
    model_service_server::SERVICE_NAME,
    anthropic::messages_service_server::SERVICE_NAME,
    anthropic::models_service_server::SERVICE_NAME,
];

/// Pictures and documents travel inside of requests, in base64.
const BODY: usize = 32 << 20;

pub(super) struct Facades {
    gemini: Arc<Gemini>,
    anthropic: Arc<Anthropic>,
}

impl Facades {
    pub(super) fn new(models: &Models) -> Self {
        let drive = Drive {
            backend: models.for_facades(),
            guard: Arc::new(Guard),
            ledger: Ledger,
            media: Media,
            strict: false,
        };
        Self { anthropic: Arc::new(Anthropic::new(drive.clone())), gemini: Arc::new(Gemini::new(drive)) }
    }

    /// Each at the place where its clients look for it, and below a prefix of its own.
    pub(super) fn mount(&self, router: &mut Router) -> Result<(), StartError> {
        let gemini = gemini::routes(&self.gemini);
        let anthropic = messages::routes(&self.anthropic);
        router.mount(at(Vendor::OpenAi), models::shared(&[], &anthropic, &gemini))?;
        for (vendor, routes) in [(Vendor::Anthropic, anthropic), (Vendor::Gemini, gemini)] {
            router.mount(Mount { prefix: prefix(vendor), ..at(vendor) }, routes.clone())?;
            router
                .mount(at(vendor), routes.into_iter().filter(|route| !models::is_shared(route)).collect())?;
        }
        Ok(())
    }

    pub(super) fn serve(&self, settings: &Settings, routes: Routes) -> Routes {
        let limit = settings.limits.message_bytes.max(BODY);
        let generative = GenerativeServiceServer::from_arc(Arc::clone(&self.gemini))
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(limit);
        let models = ModelServiceServer::from_arc(Arc::clone(&self.gemini));
        let messages = MessagesServiceServer::from_arc(Arc::clone(&self.anthropic))
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(limit);
        let claude_models = ModelsServiceServer::from_arc(Arc::clone(&self.anthropic));
        routes.add_service(generative).add_service(models).add_service(messages).add_service(claude_models)
    }
}

fn prefix(vendor: Vendor) -> &'static [&'static str] {
    match vendor {
        Vendor::OpenAi => &["openai"],
        Vendor::Anthropic => &["anthropic"],
        Vendor::Gemini => &["gemini"],
    }
}

fn at(vendor: Vendor) -> Mount {
    Mount { unknown: Unknown::Ignore, dialect: Some(vendor.dialect()), body_limit: Some(BODY), ..Mount::ROOT }
}
