//! TLS from two PEM files, for HTTP/2 and HTTP/1.1 alike.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read the certificate {path}: {problem}")]
    Certificate { path: String, problem: String },
    #[error("cannot read the key {path}: {problem}")]
    Key { path: String, problem: String },
    #[error("the certificate and the key do not work together: {0}")]
    Pair(#[from] rustls::Error),
}

pub fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let bad_cert = |problem: String| TlsError::Certificate { path: cert.display().to_string(), problem };
    let bad_key = |problem: String| TlsError::Key { path: key.display().to_string(), problem };
    let chain = CertificateDer::pem_file_iter(cert).map_err(|e| bad_cert(e.to_string()))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|e| bad_cert(e.to_string()))?;
    if chain.is_empty() {
        return Err(bad_cert("it holds no certificate".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|e| bad_key(e.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
