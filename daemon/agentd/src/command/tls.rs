//! `agentd tls`: certificates for a user who has none.

use std::fmt::Write as _;
use std::process::ExitCode;

use agentd::remote::{TlsFiles, make_tls_files};
use agentd_engine::SystemClock;
use agentd_shared::{Paths, ensure_private_dir};
use clap::Subcommand;

use super::{complain, print};

#[derive(Debug, Subcommand)]
pub(crate) enum TlsCommand {
    /// Makes a CA and a certificate of it, and says how to use them; never over existing files.
    Init {
        /// Name or address by which clients reach this machine; may be given several times.
        #[arg(long = "name", value_name = "NAME")]
        names: Vec<String>,
        /// Also make a certificate for a client of this name; may be given several times.
        #[arg(long = "client", value_name = "NAME")]
        clients: Vec<String>,
    },
}

pub(crate) fn run(command: &TlsCommand, paths: &Paths) -> ExitCode {
    let TlsCommand::Init { names, clients } = command;
    if let Err(error) = ensure_private_dir(&paths.config_dir) {
        complain(&error.to_string(), error.hint());
        return ExitCode::FAILURE;
    }
    match make_tls_files(&paths.tls_dir(), names, clients, &SystemClock) {
        Ok(files) => {
            print(&explain(&files, names));
            ExitCode::SUCCESS
        }
        Err(error) => {
            let message = match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            };
            complain(&message, error.hint());
            ExitCode::FAILURE
        }
    }
}

fn explain(files: &TlsFiles, names: &[String]) -> String {
    let TlsFiles { ca, cert, key, clients, ca_fingerprint } = files;
    let (ca, cert, key) = (ca.display(), cert.display(), key.display());
    let host = names.first().map_or("localhost", String::as_str);
    // A literal IPv6 address stands in brackets in a URL.
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let listen = if names.is_empty() { "127.0.0.1:7443" } else { "0.0.0.0:7443" };
    let client_ca =
        if clients.is_empty() { String::new() } else { format!("client_ca = \"{ca}\"\n") };
    let mut client_files = String::new();
    for (cert, key) in clients {
        // Writing to a String cannot fail.
        let _infallible =
            writeln!(client_files, "client    {} and {}", cert.display(), key.display());
    }
    let client_options = if clients.is_empty() {
        String::new()
    } else {
        " --client-cert FILE --client-key FILE".to_owned()
    };
    format!(
        "CA        {ca}\n          SHA-256 {ca_fingerprint}\ndaemon    {cert} and {key}\n{client_files}\n\
         In the configuration (`agentctl config path`), then restart the daemon:\n\n\
         [remote]\nlisten = [\"{listen}\"]\ntls_cert = \"{cert}\"\ntls_key = \"{key}\"\n{client_ca}\n\
         A token: `agentctl token create NAME`. On the other machine, with a copy of the CA's file:\n\n\
         agentctl context add NAME --server https://{host}:7443 --ca ca.pem{client_options} --token-file -\n\
         agentctl context use NAME\n"
    )
}
