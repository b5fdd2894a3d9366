//! Certificates for a user who has none: a CA of one's own and what it signs.
//!
//! The CA's key is thrown away once it has signed: nobody can make another certificate that clients
//! of this daemon would believe.

use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentd_domain::Clock;
use agentd_shared::{PathsError, ensure_private_dir};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use ring::digest::{SHA256, digest};

/// How long the certificates are good: ten years, as nothing renews them.
const VALIDITY: Duration = Duration::from_secs(3650 * 24 * 3600);
/// Clocks of clients may be slow.
const BACKDATED: Duration = Duration::from_secs(24 * 3600);
/// What a daemon is reached as through a tunnel.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The CA's certificate, which clients need.
    pub ca: PathBuf,
    /// The daemon's certificate.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Certificates of clients with their keys.
    pub clients: Vec<(PathBuf, PathBuf)>,
    /// SHA-256 of the CA's certificate, as pairs of hexadecimal digits with colons.
    pub ca_fingerprint: String,
}

/// Why no certificates were made.
#[derive(Debug, thiserror::Error)]
pub enum TlsFilesError {
    /// The directory is not usable.
    #[error(transparent)]
    Dir(#[from] PathsError),
    /// A file is there already or cannot be written.
    #[error("{} cannot be written", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A name cannot stand in a certificate.
    #[error("'{0}' cannot be the name of a client; use letters, digits, '-' and '_'")]
    ClientName(String),
    /// Something cannot stand in a certificate.
    #[error("the certificate cannot be made")]
    Certificate(#[from] rcgen::Error),
}

impl TlsFilesError {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Dir(error) => error.hint(),
            Self::Write { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                "existing files are never overwritten: move the directory away to begin anew"
            }
            Self::Write { .. } => "check owner, mode and space of the directory",
            Self::ClientName(_) => "take another name",
            Self::Certificate(_) => "give host names such as box.lan, or addresses",
        }
    }
}

/// Makes a CA, a certificate for a daemon that is reached as `names`, and one for each of `clients`,
/// and writes them to `dir`.
///
/// # Errors
/// When a name is not one, or a file cannot be written. Files that are there stay as they are.
pub fn make_tls_files(
    dir: &Path,
    names: &[String],
    clients: &[String],
    clock: &dyn Clock,
) -> Result<TlsFiles, TlsFilesError> {
    for client in clients {
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if client.is_empty() || client.len() > 64 || !client.chars().all(is_good) {
            return Err(TlsFilesError::ClientName(client.clone()));
        }
    }
    let now = Duration::from_millis(u64::try_from(clock.now().0).unwrap_or(0));
    let mut subjects = names.to_vec();
    for name in LOOPBACK_NAMES {
        if !names.iter().any(|known| known == name) {
            subjects.push(name.to_owned());
        }
    }
    let ca_key = KeyPair::generate()?;
    let mut ca_params = params(Vec::new(), "agentd CA", now)?;
    ca_params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca_params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let ca = ca_params.self_signed(&ca_key)?;
    let issuer = Issuer::new(ca_params, ca_key);
    let sign = |subjects, name: &str, usage| -> Result<(Certificate, KeyPair), rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = params(subjects, name, now)?;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        Ok((params.signed_by(&key, &issuer)?, key))
    };
    let server = sign(subjects, "agentd", ExtendedKeyUsagePurpose::ServerAuth)?;
    let mut signed = Vec::new();
    for client in clients {
        let made = sign(Vec::new(), client, ExtendedKeyUsagePurpose::ClientAuth)?;
        signed.push((format!("client-{client}"), made));
    }

    ensure_private_dir(dir)?;
    let files = TlsFiles {
        ca: dir.join("ca.pem"),
        cert: dir.join("server.pem"),
        key: dir.join("server.key"),
        clients: signed
            .iter()
            .map(|(name, _)| (dir.join(format!("{name}.pem")), dir.join(format!("{name}.key"))))
            .collect(),
        ca_fingerprint: fingerprint(&ca),
    };
    write(&files.ca, &ca.pem())?;
    write(&files.cert, &server.0.pem())?;
    write(&files.key, &server.1.serialize_pem())?;
    for ((cert_file, key_file), (_, (cert, key))) in files.clients.iter().zip(&signed) {
        write(cert_file, &cert.pem())?;
        write(key_file, &key.serialize_pem())?;
    }
    Ok(files)
}

fn params(
    subjects: Vec<String>,
    name: &str,
    now: Duration,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(subjects)?;
    params.distinguished_name.push(DnType::CommonName, name);
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(BACKDATED);
    params.not_after = epoch + now + VALIDITY;
    Ok(params)
}

fn fingerprint(certificate: &Certificate) -> String {
    let hash = digest(&SHA256, certificate.der());
    let pairs: Vec<String> = hash.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
    pairs.join(":")
}

fn write(file: &Path, text: &str) -> Result<(), TlsFilesError> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut open| open.write_all(text.as_bytes()).and_then(|()| open.sync_all()))
        .map_err(|source| TlsFilesError::Write { file: file.to_owned(), source })
}
