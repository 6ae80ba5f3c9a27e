//! Which addresses a name may lead to. Asked when a connection is made and not before, because a name can lead
//! elsewhere a moment after it was checked. The clients of webhooks and of the web are made here; it knows no request.

use std::error::Error;
use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{ClientBuilder, redirect, retry};
use rustls::{ClientConfig, RootCertStore};

use crate::domain::webhook::{is_allowed, is_inward};

/// How a name becomes addresses; tests have their own.
pub trait Lookup: Debug + Send + Sync + 'static {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// As every program of this machine does it.
#[derive(Debug, Clone, Copy)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) }
            .boxed()
    }
}

/// The name has addresses, and all of them lie inside.
#[derive(Debug, thiserror::Error)]
#[error("the name leads inside")]
pub struct LeadsInside;

/// Lets through what is out there, and what the operator allowed.
#[derive(Debug)]
pub struct Guard {
    pub lookup: Arc<dyn Lookup>,
    pub allowed: Vec<String>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = is_allowed(name.as_str(), &self.allowed);
        let found = self.lookup.lookup(name.as_str().to_owned());
        async move {
            let mut found = found.await?;
            let some = !found.is_empty();
            found.retain(|ip| allowed || !is_inward(*ip));
            if some && found.is_empty() {
                return Err(LeadsInside.into());
            }
            // The URL or its scheme knows the port.
            let found: Addrs = Box::new(found.into_iter().map(|ip| (ip, 0).into()));
            Ok(found)
        }
        .boxed()
    }
}

/// The refusal of the resolver lies somewhere below the client's own errors.
pub fn leads_inside(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(found) = cause {
        if found.is::<LeadsInside>() {
            return true;
        }
        cause = found.source();
    }
    false
}

/// A client that dials only what the guard lets through and does nothing that it was not told to do: no redirects, no
/// proxy, no retries, no word about where it comes from.
pub fn client(guard: Guard, connect: Duration) -> Result<ClientBuilder, rustls::Error> {
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls()?)
        .dns_resolver(Arc::new(guard))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(connect))
}

/// The machine's own roots, so that an operator's authority counts. Where there are none, as in a bare container,
/// those of Mozilla that are built in.
pub fn tls() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Table;

    impl Lookup for Table {
        fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
            let ips: &[&str] = match host.as_str() {
                "both.example" => &["127.0.0.1", "93.184.216.34", "::1"],
                "inside.example" => &["10.0.0.1", "fd00::1"],
                _ => &[],
            };
            let ips = ips.iter().map(|ip| ip.parse().unwrap()).collect();
            std::future::ready(Ok(ips)).boxed()
        }
    }

    async fn dialled(host: &str, allowed: &[&str]) -> Result<Vec<String>, String> {
        let allowed = allowed.iter().map(|name| (*name).to_owned()).collect();
        let guard = Guard { lookup: Arc::new(Table), allowed };
        let found = guard.resolve(host.parse().unwrap()).await.map_err(|e| e.to_string())?;
        Ok(found.map(|address| address.ip().to_string()).collect())
    }

    #[tokio::test]
    async fn a_name_leads_outside_or_nowhere_unless_it_is_allowed() {
        assert_eq!(dialled("both.example", &[]).await.unwrap(), ["93.184.216.34"]);
        assert_eq!(dialled("inside.example", &[]).await.unwrap_err(), "the name leads inside");
        assert_eq!(dialled("inside.example", &["INSIDE.example"]).await.unwrap(), ["10.0.0.1", "fd00::1"]);
        assert!(dialled("nowhere.example", &[]).await.unwrap().is_empty());
    }
}
