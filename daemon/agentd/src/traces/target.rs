//! Where traces go: what the configuration says, else the standard variables of OpenTelemetry.

use crate::config::{OtelConfig, check_endpoint};
use crate::environment::Environment;

/// What the configuration and the environment ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// No traces.
    None,
    /// Traces for the collector at this URL.
    Collector(String),
    /// Traces that cannot be exported as asked.
    Bad {
        /// Why, without secrets.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
}

impl Target {
    /// Looks at the key first: it is ours alone, and the variables may be meant for other programs.
    pub(super) fn of(config: &OtelConfig, env: &Environment) -> Self {
        if !config.endpoint.is_empty() {
            return Self::Collector(config.endpoint.clone());
        }
        let is_disabled =
            env.get("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let Some((name, endpoint)) = otlp(env, "ENDPOINT").filter(|_| !is_disabled) else {
            return Self::None;
        };
        if let Err(problem) = check_endpoint(endpoint) {
            let remedy = "correct the variable, or set otel.endpoint";
            return Self::Bad { why: format!("the variable {name}: {problem}"), remedy };
        }
        match otlp(env, "PROTOCOL") {
            None | Some((_, "grpc")) => Self::Collector(endpoint.to_owned()),
            Some((name, _other)) => Self::Bad {
                why: format!("the variable {name} asks for another protocol than grpc"),
                remedy: "set otel.endpoint to the collector's address for gRPC, usually port 4317",
            },
        }
    }
}

/// A variable of the OTLP exporter that is set, with its name: the one for traces, else the general one.
/// Names: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
pub(super) fn otlp<'a>(env: &'a Environment, what: &str) -> Option<(String, &'a str)> {
    [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")]
        .into_iter()
        .find_map(|name| env.get(&name).filter(|text| !text.is_empty()).map(|text| (name, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(endpoint: &str, env: &[(&str, &str)]) -> Target {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let config = OtelConfig { endpoint: endpoint.to_owned(), ..OtelConfig::default() };
        Target::of(&config, &env.collect())
    }

    #[test]
    fn the_key_counts_first_then_the_standard_variables() {
        const GENERAL: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://general:4317");
        const TRACES: (&str, &str) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces");
        let collector = |url: &str| Target::Collector(url.to_owned());
        assert_eq!(target("", &[]), Target::None);
        assert_eq!(target("", &[GENERAL]), collector(GENERAL.1));
        assert_eq!(target("", &[GENERAL, TRACES]), collector(TRACES.1));
        assert_eq!(target("http://own", &[GENERAL, TRACES]), collector("http://own"));
        assert_eq!(target("", &[GENERAL, ("OTEL_SDK_DISABLED", "TRUE")]), Target::None);
        assert_eq!(target("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), Target::None);
        let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
        assert_eq!(target("", &[GENERAL, grpc]), collector(GENERAL.1));
    }

    #[test]
    fn variables_that_cannot_be_followed_are_named() {
        let refused = |env: &[(&str, &str)], expect: &str| match target("", env) {
            Target::Bad { why, .. } => assert!(why.starts_with(expect), "{why}"),
            other => panic!("{other:?}"),
        };
        let endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";
        refused(&[(endpoint, "collector")], "the variable OTEL_EXPORTER_OTLP_ENDPOINT: ");
        let protocol = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
        let expect = "the variable OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol than grpc";
        refused(&[(endpoint, "http://c:4318"), protocol], expect);
    }
}
