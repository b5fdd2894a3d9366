//! A collector that takes OTLP over gRPC.

use std::error::Error as _;
use std::time::Duration;

use agentd_domain::cut_line;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use percent_encoding::percent_decode_str;
use tonic::metadata::{Ascii, MetadataKey, MetadataMap, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Status};

use super::export::{Collector, Failure};
use super::target::otlp;
use crate::environment::Environment;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Characters of what the collector says that go into the log.
const REASON_CHARS: usize = 300;

/// Why a collector cannot be asked. Nothing of it repeats a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unusable {
    pub(super) why: String,
    pub(super) remedy: &'static str,
}

impl Unusable {
    fn new(why: String, remedy: &'static str) -> Self {
        Self { why, remedy }
    }
}

/// Connects when there is something to send, and anew after a failure. `Debug` shows no headers: they
/// are marked as sensitive.
#[derive(Debug)]
pub(super) struct OtlpCollector {
    endpoint: Endpoint,
    headers: MetadataMap,
    resource: ResourceAttributesWithSchema,
    client: Option<TraceServiceClient<Channel>>,
}

impl OtlpCollector {
    /// A collector at a checked URL.
    pub(super) fn new(url: &str, resource: &Resource, env: &Environment) -> Result<Self, Unusable> {
        Ok(Self {
            endpoint: endpoint(url, env)?,
            headers: headers(env)?,
            resource: resource.into(),
            client: None,
        })
    }
}

impl Collector for OtlpCollector {
    async fn send(&mut self, spans: Vec<SpanData>) -> Result<(), Failure> {
        let count = spans.len();
        let resource_spans = group_spans_by_resource_and_scope(spans, &self.resource);
        let mut request = tonic::Request::new(ExportTraceServiceRequest { resource_spans });
        *request.metadata_mut() = self.headers.clone();
        // Put back only once it has answered: a connection that hangs is not used again.
        let mut client = match self.client.take() {
            Some(client) => client,
            None => TraceServiceClient::new(self.endpoint.connect_lazy()),
        };
        let answer = client.export(request).await;
        let answer = answer.map_err(|status| Failure { lost: count, why: reason(&status) })?;
        self.client = Some(client);
        match answer.into_inner().partial_success {
            Some(partly) if partly.rejected_spans > 0 => Err(Failure {
                lost: usize::try_from(partly.rejected_spans).unwrap_or(count),
                why: format!("refused: {}", cut_line(&partly.error_message, REASON_CHARS)),
            }),
            _ => Ok(()),
        }
    }
}

/// What went wrong, down to its cause: "transport error" alone helps nobody.
fn reason(status: &Status) -> String {
    let mut reason = match status.code() {
        Code::Unauthenticated | Code::PermissionDenied => {
            format!("{} (see OTEL_EXPORTER_OTLP_HEADERS)", status.message())
        }
        _ => status.message().to_owned(),
    };
    let mut cause = status.source();
    while let Some(error) = cause {
        // Some layers only repeat what is below them.
        let error_text = error.to_string();
        if !reason.contains(&error_text) {
            reason = format!("{reason}: {error_text}");
        }
        cause = error.source();
    }
    cut_line(&reason, REASON_CHARS)
}

fn endpoint(url: &str, env: &Environment) -> Result<Endpoint, Unusable> {
    let bad_url = |error| Unusable::new(format!("{url}: {error}"), "correct otel.endpoint");
    let endpoint = Endpoint::from_shared(url.to_owned())
        .and_then(|endpoint| endpoint.user_agent(concat!("agentd/", env!("CARGO_PKG_VERSION"))))
        .map_err(|error| bad_url(error.to_string()))?
        .connect_timeout(CONNECT_TIMEOUT);
    if !url.starts_with("https:") {
        return Ok(endpoint);
    }
    let (roots, remedy) = match otlp(env, "CERTIFICATE") {
        Some((name, file)) => {
            let remedy = "let the variable name a PEM file with the CA of the collector";
            let pem = std::fs::read(file)
                .map_err(|error| Unusable::new(format!("{name} {file}: {error}"), remedy))?;
            (ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)), remedy)
        }
        None => (
            ClientTlsConfig::new().with_native_roots(),
            "install the system's certificates (ca-certificates), or set OTEL_EXPORTER_OTLP_CERTIFICATE",
        ),
    };
    endpoint.tls_config(roots).map_err(|error| {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        Unusable::new(format!("TLS cannot be set up: {error}{cause}"), remedy)
    })
}

/// The headers of each request, in which keys are given.
fn headers(env: &Environment) -> Result<MetadataMap, Unusable> {
    let mut headers = MetadataMap::new();
    let Some((variable, text)) = otlp(env, "HEADERS") else { return Ok(headers) };
    for (at, pair) in pairs(text).enumerate() {
        let header = pair.and_then(|(name, value)| {
            let name: MetadataKey<Ascii> = name.to_ascii_lowercase().parse().ok()?;
            let value: MetadataValue<Ascii> = value.parse().ok()?;
            Some((name, value))
        });
        let Some((name, mut value)) = header else {
            return Err(Unusable::new(
                format!("the variable {variable}: part {} is not NAME=VALUE", at + 1),
                "write it as name=value,other=value with special characters as %20",
            ));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The parts of `a=1,b=2`, decoded; none for one that is not such. Form:
/// <https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables>.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?.into_owned();
        Some((name.trim().to_owned(), value)).filter(|(name, _)| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, env: &[(&str, &str)]) -> Result<OtlpCollector, Unusable> {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        OtlpCollector::new(url, &Resource::builder_empty().build(), &env.collect())
    }

    #[test]
    fn keys_are_read_from_the_standard_variable_and_never_shown() {
        let key = ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20s3cret, x-team = a");
        let collector = of("http://127.0.0.1:4317", &[key]).unwrap();
        let header = |name| collector.headers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("authorization"), Some("Bearer s3cret"));
        assert_eq!(header("x-team"), Some("a"));
        let shown = format!("{collector:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn what_is_wrong_is_named_without_the_key() {
        let key = ("OTEL_EXPORTER_OTLP_HEADERS", "a=1,s3cret");
        let error = of("http://127.0.0.1:4317", &[key]).unwrap_err();
        let expect = "the variable OTEL_EXPORTER_OTLP_HEADERS: part 2 is not NAME=VALUE";
        assert_eq!(error.why, expect);
        let missing = ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nonexistent/ca.pem");
        let error = of("https://127.0.0.1:4317", &[missing]).unwrap_err();
        assert!(error.why.starts_with("OTEL_EXPORTER_OTLP_CERTIFICATE /nonexistent"), "{error:?}");
    }
}
