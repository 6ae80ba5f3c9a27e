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
use crate::proto::gemini::generative_service_server::{self, GenerativeServiceServer};
use crate::proto::gemini::model_service_server::{self, ModelServiceServer};
use crate::service::facade::Drive;
use crate::service::facade::ledger::Ledger;
use crate::service::gemini::Gemini;
use crate::transcode::{Mount, Router, Unknown};
use crate::transport::handler::gemini;
use crate::transport::handler::models;

/// What health and reflection tell of.
pub(super) const SERVICES: [&str; 2] =
    [generative_service_server::SERVICE_NAME, model_service_server::SERVICE_NAME];

pub(super) struct Facades {
    /// Pictures and documents travel inside of requests, in base64.
    body_limit: usize,
    gemini: Arc<Gemini>,
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
        Ok(Self { body_limit: settings.facade.body_bytes, gemini: Arc::new(Gemini::new(drive)) })
    }

    /// Each at the place where its clients look for it, and below a prefix of its own.
    pub(super) fn mount(&self, router: &mut Router) -> Result<(), StartError> {
        let at = |vendor| at(vendor, self.body_limit);
        let gemini = gemini::routes(&self.gemini);
        router.mount(at(Vendor::OpenAi), models::shared(&[], &[], &gemini))?;
        for (vendor, routes) in [(Vendor::Gemini, gemini)].into_iter().chain([]) {
            router.mount(Mount { prefix: prefix(vendor), ..at(vendor) }, routes.clone())?;
            router
                .mount(at(vendor), routes.into_iter().filter(|route| !models::is_shared(route)).collect())?;
        }
        Ok(())
    }

    pub(super) fn serve(&self, settings: &Settings, routes: Routes) -> Routes {
        let limit = settings.limits.message_bytes.max(self.body_limit);
        let generative = GenerativeServiceServer::from_arc(Arc::clone(&self.gemini))
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(limit);
        let models = ModelServiceServer::from_arc(Arc::clone(&self.gemini));
        routes.add_service(generative).add_service(models)
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
