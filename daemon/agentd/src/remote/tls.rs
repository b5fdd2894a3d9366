//! The daemon's certificate, read from files, and read again when the configuration is.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::RootCertStore;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ParsedCertificate, ServerConfig, WebPkiClientVerifier};

use super::RemoteError;
use crate::config::RemoteConfig;
use crate::environment::Environment;
use crate::private_file::SecretFile;

/// Most bytes of a file of certificates or of a key.
const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// What connections are encrypted with. It can be exchanged while connections are open.
#[derive(Debug)]
pub(crate) struct Tls {
    current: Mutex<Arc<Identity>>,
    /// Says where the credentials of systemd are.
    env: Environment,
    /// Why the newest files are not in force.
    failure: Mutex<Option<String>>,
}

/// A certificate that is in force.
#[derive(Debug)]
pub(crate) struct Identity {
    /// For handshakes.
    pub(crate) server: Arc<ServerConfig>,
    /// What clients are shown.
    certificate: CertificateDer<'static>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// When one cannot be used.
    pub(crate) fn load(config: &RemoteConfig, env: &Environment) -> Result<Self, RemoteError> {
        let current = Mutex::new(Arc::new(Identity::load(config, env)?));
        Ok(Self { current, env: env.clone(), failure: Mutex::default() })
    }

    /// Reads the files again, for connections from now on. When one cannot be used, what was in force
    /// stays so. Blocks on the disk.
    pub(crate) fn reload(&self, config: &RemoteConfig) {
        let failure = match Identity::load(config, &self.env) {
            Ok(identity) => {
                *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(identity);
                tracing::info!("certificate read again");
                None
            }
            Err(error) => {
                tracing::warn!(%error, hint = error.hint(), "the certificate was not changed");
                Some(error.to_string())
            }
        };
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Why the newest files are not in force, for `status`.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is in force.
    pub(crate) fn current(&self) -> Arc<Identity> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Identity {
    fn load(config: &RemoteConfig, env: &Environment) -> Result<Self, RemoteError> {
        let chain = read_certificates("remote.tls_cert", &config.tls_cert, env)?;
        let key = read_key(&config.tls_key, env)?;
        let Some(certificate) = chain.first().cloned() else {
            return Err(unusable("remote.tls_cert", &config.tls_cert, "holds no certificate"));
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = if config.client_ca.is_empty() {
            builder.with_no_client_auth()
        } else {
            let mut roots = RootCertStore::empty();
            for certificate in read_certificates("remote.client_ca", &config.client_ca, env)? {
                roots.add(certificate)?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|error| {
                    unusable("remote.client_ca", &config.client_ca, &error.to_string())
                })?;
            builder.with_client_cert_verifier(verifier)
        };
        let mut server = builder.with_single_cert(chain, key)?;
        server.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { server: Arc::new(server), certificate })
    }

    /// Until when the certificate is good, in Unix milliseconds; none when that cannot be read.
    pub(crate) fn not_after_ms(&self) -> Option<i64> {
        super::validity::not_after_ms(&self.certificate)
    }

    /// True when the certificate is good for this name or address: others are not us.
    pub(crate) fn is_for(&self, host: &str) -> bool {
        let Ok(name) = ServerName::try_from(host) else { return false };
        ParsedCertificate::try_from(&self.certificate)
            .is_ok_and(|parsed| verify_server_name(&parsed, &name).is_ok())
    }
}

fn unusable(key: &'static str, file: &str, problem: &str) -> RemoteError {
    RemoteError::File { key, file: PathBuf::from(file), problem: problem.to_owned() }
}

fn read_certificates(
    key: &'static str,
    file: &str,
    env: &Environment,
) -> Result<Vec<CertificateDer<'static>>, RemoteError> {
    let failed = |problem: String| unusable(key, file, &problem);
    let file = SecretFile::named(file, env).map_err(|problem| failed(format!(": {problem}")))?.path;
    let size =
        std::fs::metadata(&file).map_err(|error| failed(format!("cannot be read: {error}")))?;
    if !size.is_file() || size.len() > MAX_PEM_BYTES {
        return Err(failed("is not a file of certificates".to_owned()));
    }
    let pem = std::fs::read(&file).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| failed(format!("is not PEM: {error}")))?;
    if certificates.is_empty() {
        return Err(failed("holds no certificate".to_owned()));
    }
    Ok(certificates)
}

fn read_key(file: &str, env: &Environment) -> Result<PrivateKeyDer<'static>, RemoteError> {
    const KEY: &str = "remote.tls_key";
    let pem = SecretFile::named(file, env)
        .and_then(|file| file.read(MAX_PEM_BYTES))
        .map_err(|problem| unusable(KEY, file, &problem))?;
    // What the parser says may quote the file.
    PrivateKeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|_parse| unusable(KEY, file, "holds no private key in PEM"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use agentd_engine::SystemClock;

    use super::*;
    use crate::remote::make_tls_files;

    #[test]
    fn the_key_may_be_a_credential_of_systemd() {
        let dir = tempfile::tempdir().unwrap();
        let files = make_tls_files(&dir.path().join("tls"), &[], &[], &SystemClock).unwrap();
        // systemd lets the daemon's user in by an access list, which shows as rights of the group.
        std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(0o440)).unwrap();
        let mut config = RemoteConfig {
            tls_cert: files.cert.display().to_string(),
            tls_key: "${CREDENTIALS_DIRECTORY}/server.key".to_owned(),
            ..RemoteConfig::default()
        };
        let credentials = dir.path().join("tls").display().to_string();
        let env = [("CREDENTIALS_DIRECTORY".to_owned(), credentials)].into_iter().collect();
        Tls::load(&config, &env).unwrap();
        let error = Tls::load(&config, &Environment::new()).unwrap_err();
        assert!(error.to_string().contains("LoadCredential="), "{error}");
        // The same file is no credential where systemd does not say so.
        config.tls_key = files.key.display().to_string();
        let error = Tls::load(&config, &Environment::new()).unwrap_err();
        assert!(error.to_string().contains("others can read it"), "{error}");
    }
}
