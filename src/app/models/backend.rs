//! A backend of the settings, made: its address, its credentials, and what stands before it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::credentials;
use crate::app::StartError;
use crate::config::{BackendKind, KeyFrom, NamedBackend, VertexAccess};
use crate::domain::model::Backend;
use crate::model::continued::Continued;
use crate::model::google::credentials::tokens;
use crate::model::google::vertex::Access;
use crate::model::google::{Api, CodeAssist, Google, Site, Vertex, code_assist, vertex};
use crate::model::http::Http;
use crate::model::openai::{Endpoint, OpenAi, Who};
use crate::model::patient::Policy;
use crate::model::rehearsal::Rehearsal;

type Made = Result<Arc<dyn Backend>, StartError>;

pub(super) struct Maker {
    pub(super) http: Http,
    pub(super) rehearsal: Arc<Rehearsal>,
    pub(super) patience: Duration,
}

impl Maker {
    pub(super) fn backend(&self, named: &NamedBackend) -> Made {
        match &named.kind {
            BackendKind::Rehearsal => Ok(self.rehearsal.clone()),
            BackendKind::Gemini { base_url, api_version, key, bearer } => Ok(self.google(Api {
                base_url: base_url.clone(),
                version: api_version.clone(),
                key: key.clone(),
                bearer: *bearer,
                origin: origin(named),
            })),
            BackendKind::Vertex { project, location, base_url, access } => {
                let options = vertex::Options {
                    project: project.clone(),
                    location: Some(location.clone()),
                    base_url: base_url.clone(),
                    ..vertex::Options::default()
                };
                self.vertex(named, options, access)
            }
            BackendKind::CodeAssist { endpoint, api_version, project, credentials: file, client } => {
                let options = code_assist::Options {
                    endpoint: Some(endpoint.clone()),
                    version: Some(api_version.clone()),
                    project: project.clone(),
                    ..code_assist::Options::default()
                };
                let places = credentials::gemini_cli(file.as_ref(), client.as_ref());
                let tokens = tokens(self.http.clone(), places)?;
                let origin = credentials::origin(file.as_ref());
                let assist = CodeAssist::new(options, tokens, self.http.clone(), origin);
                Ok(self.google(assist.map_err(|problem| unusable(named, &problem))?))
            }
            BackendKind::OpenAi { base_url, key, headers } => {
                let who =
                    Who { name: format!("the model server {}", named.name), credentials: origin(named) };
                let endpoint =
                    Endpoint { base_url: base_url.clone(), key: key.clone(), headers: headers.clone(), who };
                Ok(Arc::new(OpenAi::new(endpoint, self.http.clone())))
            }
        }
    }

    fn vertex(&self, named: &NamedBackend, options: vertex::Options, access: &VertexAccess) -> Made {
        let (access, origin) = match access {
            VertexAccess::Key(key) => (Access::Key(key.clone()), origin(named)),
            VertexAccess::Credentials(file) => {
                let tokens = tokens(self.http.clone(), credentials::default(file.as_ref()))?;
                (Access::Tokens(tokens), credentials::origin(file.as_ref()))
            }
        };
        let vertex = Vertex::new(options, access, origin).map_err(|problem| unusable(named, &problem))?;
        Ok(self.google(vertex))
    }

    fn google(&self, site: impl Site) -> Arc<dyn Backend> {
        let google = Arc::new(Google::new(site, self.http.clone()));
        Arc::new(Continued::new(google, Policy::agent(self.patience)))
    }
}

fn unusable(named: &NamedBackend, problem: &dyn fmt::Display) -> StartError {
    StartError::Backend { name: named.name.clone(), problem: problem.to_string() }
}

/// Where its key comes from.
fn origin(named: &NamedBackend) -> String {
    match &named.key_from {
        None => "a request without a key".to_owned(),
        Some(KeyFrom::Variable(name)) => format!("the key from {name}"),
        Some(KeyFrom::File(path)) => format!("the key from {}", path.display()),
        Some(KeyFrom::Inline) => "the key from the settings".to_owned(),
    }
}
