//! The command line's part about daemons on other machines.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::JsonArgs;

/// How to reach a daemon on another machine. There is no option for the token itself: everybody on the
/// machine can read the arguments of a process.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Daemons on other machines")]
pub(crate) struct RemoteArgs {
    /// Daemon on another machine, such as https://host:7443
    #[arg(long, global = true, value_name = "URL", conflicts_with = "socket")]
    pub(crate) server: Option<String>,
    /// Named server, see `agentctl context`; `local` is the daemon on this machine
    #[arg(long, global = true, value_name = "NAME", conflicts_with_all = ["socket", "server"])]
    pub(crate) context: Option<String>,
    /// File with the token and nothing else, mode 0600; `-` is stdin
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file with the CA of the daemon's certificate
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// PEM file with a certificate of this client
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_cert: Option<PathBuf>,
    /// PEM file with its key, mode 0600
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,
    /// Name that the daemon's certificate is for, when it is not the URL's
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) server_name: Option<String>,
}

/// Commands about named servers.
#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Give a server a name
    #[command(after_help = "\
Takes --server and, where needed, --token-file, --ca, --client-cert,
--client-key and --server-name. A token from stdin is kept in the contexts'
file, which is yours alone; a file with a token is read at each use.

Examples:
  agentctl context add home --server https://box.lan:7443 --ca ca.pem \\
      --token-file -
  agentctl context use home")]
    Add(ContextName),
    /// Use a named server from now on, or with `local` the daemon on this machine
    Use(ContextName),
    /// List named servers; the one in use has a star
    List(JsonArgs),
    /// Show one named server, without its token
    Show(ContextShowArgs),
    /// Forget a named server
    Remove(ContextName),
}

/// One context.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextName {
    /// What the server is called here
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// Options of `context show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextShowArgs {
    /// What the server is called here; without it: the one in use
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Commands about tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; its text is printed once and stored nowhere
    #[command(after_help = "\
The text goes to stdout, alone, everything else to stderr.

Examples:
  agentctl token create phone
  agentctl token create dashboard --scope read --expires 90d
  agentctl token create ci --expires 12h > token")]
    Create(TokenCreateArgs),
    /// List tokens, the newest first
    List(JsonArgs),
    /// Make a token useless and close the connections that use it
    Revoke(TokenRevokeArgs),
}

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// Looking at sessions.
    Read,
    /// Looking, and talking in sessions.
    #[default]
    Chat,
    /// Everything.
    Admin,
}

/// Options of `token create`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenCreateArgs {
    /// Who or what will use it; others see it beside the names of its users
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it allows
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: ScopeChoice,
    /// How long it is good for, such as 12h, 30d or 8w; without it: until it is revoked
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) expires: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `token revoke`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenRevokeArgs {
    /// Id of the token, as `token list` shows it
    #[arg(value_name = "ID")]
    pub(crate) token: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a number with a unit.
fn parse_time(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let seconds = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err("give a number with s, m, h, d or w, such as 30d".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_no_number| "the number is missing or too large")?;
    match number.checked_mul(seconds) {
        None => Err("the time is too long".to_owned()),
        Some(0) => Err("the time must not be zero".to_owned()),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_a_number_and_a_unit() {
        let check = |text: &str, seconds: Option<u64>| {
            assert_eq!(parse_time(text).ok(), seconds.map(Duration::from_secs), "{text}");
        };
        check("45s", Some(45));
        check("90m", Some(5_400));
        check("12h", Some(43_200));
        check("30d", Some(2_592_000));
        check("2w", Some(1_209_600));
        for wrong in ["", "30", "d", "-1d", "1.5h", "0d", "3 d", "99999999999999999999d"] {
            check(wrong, None);
        }
        check(&format!("{}w", u64::MAX), None);
    }
}
