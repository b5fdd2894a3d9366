//! Whom a client believes, and how it shows who it is.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::token::open_private;
use super::{RemoteError, RemoteOptions};

/// Most bytes of a file of certificates or of a key.
const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// Reads the files of the options.
pub(super) fn client_config(options: &RemoteOptions) -> Result<ClientConfig, RemoteError> {
    let roots = match &options.ca {
        Some(ca) => roots_of(ca)?,
        None => system_roots()?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = match (&options.client_cert, &options.client_key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(cert), Some(key)) => {
            let chain = read_certificates("--client-cert", cert)?;
            builder.with_client_auth_cert(chain, read_key(key)?)?
        }
        (Some(_), None) => {
            return Err(RemoteError::Half { present: "--client-cert", missing: "--client-key" });
        }
        (None, Some(_)) => {
            return Err(RemoteError::Half { present: "--client-key", missing: "--client-cert" });
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

fn roots_of(ca: &Path) -> Result<RootCertStore, RemoteError> {
    let mut roots = RootCertStore::empty();
    for certificate in read_certificates("--ca", ca)? {
        roots.add(certificate)?;
    }
    Ok(roots)
}

fn system_roots() -> Result<RootCertStore, RemoteError> {
    let mut roots = RootCertStore::empty();
    // One file of the system that cannot be read does not make the others useless.
    let (added, _skipped) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 { Err(RemoteError::NoRoots) } else { Ok(roots) }
}

fn read_certificates(
    option: &'static str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, RemoteError> {
    let failed = |problem: String| RemoteError::File { option, file: file.to_owned(), problem };
    let size = std::fs::metadata(file).map_err(|error| failed(error.to_string()))?;
    if !size.is_file() || size.len() > MAX_PEM_BYTES {
        return Err(failed("is not a file of certificates".to_owned()));
    }
    let pem = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| failed(format!("is not PEM: {error}")))?;
    if certificates.is_empty() {
        return Err(failed("holds no certificate".to_owned()));
    }
    Ok(certificates)
}

fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, RemoteError> {
    let failed = |problem: &str| RemoteError::File {
        option: "--client-key",
        file: file.to_owned(),
        problem: problem.to_owned(),
    };
    let mut pem = Vec::new();
    open_private("--client-key", file)?
        .take(MAX_PEM_BYTES)
        .read_to_end(&mut pem)
        .map_err(|error| failed(&error.to_string()))?;
    // What the parser says may quote the file.
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_parse| failed("holds no private key in PEM"))
}
