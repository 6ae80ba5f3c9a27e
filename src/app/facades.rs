//! The APIs of other vendors: their services over the models, their paths, and who is told of them.

use std::sync::Arc;

use tonic::codec::CompressionEncoding;
use tonic::service::Routes;

use super::StartError;
use super::models::Models;
use super::parts::{guard, media};
use crate::config::Settings;
use crate::domain::shelf::Shelf;
use crate::facade::Vendor;
use crate::proto::{anthropic, gemini, openai};
use crate::service::anthropic::Anthropic;
use crate::service::facade::Drive;
use crate::service::facade::ledger::Ledger;
use crate::service::gemini::Gemini;
use crate::service::openai::OpenAi;
use crate::service::responses::Responses;
use crate::transcode::{Mount, Route, Router, Unknown};
use crate::transport::handler;
use crate::transport::handler::models;

/// What health and reflection tell of.
pub(super) const SERVICES: [&str; 8] = [
    gemini::generative_service_server::SERVICE_NAME,
    gemini::model_service_server::SERVICE_NAME,
    openai::chat_service_server::SERVICE_NAME,
    openai::embeddings_service_server::SERVICE_NAME,
    openai::models_service_server::SERVICE_NAME,
    openai::responses_service_server::SERVICE_NAME,
    anthropic::messages_service_server::SERVICE_NAME,
    anthropic::models_service_server::SERVICE_NAME,
];

pub(super) struct Facades {
    /// Pictures and documents travel inside of requests, in base64.
    body_limit: usize,
    gemini: Arc<Gemini>,
    openai: Arc<OpenAi>,
    responses: Arc<Responses>,
    anthropic: Arc<Anthropic>,
}

impl Facades {
    pub(super) fn new(
        settings: &Settings,
        models: &Models,
        shelf: &Arc<dyn Shelf>,
    ) -> Result<Self, StartError> {
        let drive = Drive {
            backend: models.for_facades(),
            guard: Arc::new(guard(settings, models)),
            ledger: Ledger::new(Arc::clone(shelf), settings.facade.keep),
            media: media(settings)?,
            strict: settings.facade.strict,
        };
        Ok(Self {
            body_limit: settings.facade.body_bytes,
            gemini: Arc::new(Gemini::new(drive.clone())),
            openai: Arc::new(OpenAi::new(drive.clone())),
            responses: Arc::new(Responses::new(
                drive.clone(),
                Arc::clone(shelf),
                settings.facade.keep,
                settings.facade.body_bytes,
            )),
            anthropic: Arc::new(Anthropic::new(drive)),
        })
    }

    /// What goes on without a caller.
    pub(super) fn responses(&self) -> Arc<Responses> {
        Arc::clone(&self.responses)
    }

    /// Each at the place where its clients look for it, and below a prefix of its own.
    pub(super) fn mount(&self, router: &mut Router) -> Result<(), StartError> {
        let at = |vendor| at(vendor, self.body_limit);
        let gemini = handler::gemini::routes(&self.gemini);
        let anthropic = handler::anthropic::routes(&self.anthropic);
        let openai = self.openai_routes();
        router.mount(at(Vendor::OpenAi), models::shared(&openai, &anthropic, &gemini))?;
        for (vendor, routes) in
            [(Vendor::Gemini, gemini), (Vendor::OpenAi, openai), (Vendor::Anthropic, anthropic)]
        {
            router.mount(Mount { prefix: prefix(vendor), ..at(vendor) }, routes.clone())?;
            router
                .mount(at(vendor), routes.into_iter().filter(|route| !models::is_shared(route)).collect())?;
        }
        Ok(())
    }

    fn openai_routes(&self) -> Vec<Route> {
        [
            openai::chat_service_http::routes(&self.openai),
            openai::embeddings_service_http::routes(&self.openai),
            openai::models_service_http::routes(&self.openai),
            handler::compact::routes(),
            openai::responses_service_http::routes(&self.responses),
        ]
        .concat()
    }

    pub(super) fn serve(&self, settings: &Settings, routes: Routes) -> Routes {
        let limit = settings.limits.message_bytes.max(self.body_limit);
        // A service that takes large requests.
        macro_rules! large {
            ($server:path, $service:expr) => {
                <$server>::from_arc(Arc::clone($service))
                    .accept_compressed(CompressionEncoding::Gzip)
                    .max_decoding_message_size(limit)
            };
        }
        routes
            .add_service(large!(gemini::generative_service_server::GenerativeServiceServer<_>, &self.gemini))
            .add_service(large!(gemini::model_service_server::ModelServiceServer<_>, &self.gemini))
            .add_service(large!(openai::chat_service_server::ChatServiceServer<_>, &self.openai))
            .add_service(large!(openai::embeddings_service_server::EmbeddingsServiceServer<_>, &self.openai))
            .add_service(large!(openai::models_service_server::ModelsServiceServer<_>, &self.openai))
            .add_service(large!(openai::responses_service_server::ResponsesServiceServer<_>, &self.responses))
            .add_service(large!(
                anthropic::messages_service_server::MessagesServiceServer<_>,
                &self.anthropic
            ))
            .add_service(large!(anthropic::models_service_server::ModelsServiceServer<_>, &self.anthropic))
    }
}

fn prefix(vendor: Vendor) -> &'static [&'static str] {
    match vendor {
        Vendor::OpenAi => &["openai"],
        Vendor::Anthropic => &["anthropic"],
        Vendor::Gemini => &["gemini"],
    }
}

fn at(vendor: Vendor, body_limit: usize) -> Mount {
    Mount {
        unknown: Unknown::Ignore,
        dialect: Some(vendor.dialect()),
        body_limit: Some(body_limit),
        ..Mount::ROOT
    }
}
