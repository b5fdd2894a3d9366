//! `[otel]`: where traces go.

use serde::{Deserialize, Serialize};

use super::schema::BadValue;

/// `[otel]`: where traces go. Exported by builds with the feature `otel`; others say so at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtelConfig {
    /// URL of a collector that takes OTLP over gRPC; empty: what OTEL_EXPORTER_OTLP_ENDPOINT says.
    pub endpoint: String,
    /// Which part of the traces is exported, 0 to 1.
    pub sample_ratio: f64,
}

impl Default for OtelConfig {
    fn default() -> Self {
        Self { endpoint: String::new(), sample_ratio: 1.0 }
    }
}

impl OtelConfig {
    /// Checks what types do not express.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        let bad = |key: &str, problem| Err(BadValue { key: format!("otel.{key}"), problem });
        if !self.endpoint.is_empty()
            && let Err(problem) = check_endpoint(&self.endpoint)
        {
            return bad("endpoint", problem);
        }
        let ratio = self.sample_ratio;
        if !(0.0..=1.0).contains(&ratio) {
            return bad("sample_ratio", format!("{ratio} is not between 0 and 1"));
        }
        Ok(())
    }
}

/// Says why a text is no address of a collector. Nothing of it is repeated that may be a secret.
pub(crate) fn check_endpoint(text: &str) -> Result<(), String> {
    let url: tonic::codegen::http::Uri =
        text.parse().map_err(|_not_a_url| "it is not a URL".to_owned())?;
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(
            "a user or password has no place in it; put keys into OTEL_EXPORTER_OTLP_HEADERS"
                .to_owned(),
        );
    }
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    if !is_http || url.host().is_none_or(str::is_empty) {
        return Err(format!(
            "'{text}' is not such as http://127.0.0.1:4317 or https://collector.example:4317"
        ));
    }
    if url.path() != "/" || url.query().is_some() {
        return Err(format!(
            "'{text}' has a path, as OTLP over HTTP does; traces go over gRPC, usually to port 4317 and without a path"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_collector_is_a_url_without_path_and_secrets() {
        for good in ["http://127.0.0.1:4317", "https://c.example", "http://[::1]:4317/"] {
            assert_eq!(check_endpoint(good), Ok(()), "{good}");
        }
        let refused = |text: &str, why: &str| {
            let problem = check_endpoint(text).unwrap_err();
            assert!(problem.contains(why), "{text}: {problem}");
            assert!(!problem.contains("secret"), "{problem}");
        };
        refused("127.0.0.1:4317", "is not such as");
        refused("ftp://c.example", "is not such as");
        refused("c d", "not a URL");
        refused("", "not a URL");
        refused("http://c.example:4318/v1/traces", "has a path");
        refused("https://me:secret@c.example", "OTEL_EXPORTER_OTLP_HEADERS");
    }
}
