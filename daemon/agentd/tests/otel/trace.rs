//! A trace as a tree of spans, for comparing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

/// All spans with one trace id.
#[derive(Debug)]
pub(crate) struct Trace {
    spans: Vec<Span>,
}

impl Trace {
    pub(crate) fn all(requests: impl Iterator<Item = ExportTraceServiceRequest>) -> Vec<Self> {
        let resources = requests.flat_map(|request| request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        let mut by_id: BTreeMap<Vec<u8>, Vec<Span>> = BTreeMap::new();
        for span in scopes.flat_map(|scope| scope.spans) {
            assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8), "{span:?}");
            by_id.entry(span.trace_id.clone()).or_default().push(span);
        }
        let mut traces: Vec<Self> = by_id.into_values().map(|spans| Self { spans }).collect();
        for trace in &mut traces {
            trace.spans.sort_by_key(|span| span.start_time_unix_nano);
        }
        traces.sort_by_key(|trace| trace.root().start_time_unix_nano);
        traces
    }

    /// The one span without a parent.
    pub(crate) fn root(&self) -> &Span {
        let mut roots = self.spans.iter().filter(|span| span.parent_span_id.is_empty());
        let root = roots.next().unwrap_or_else(|| panic!("no root: {self:?}"));
        assert!(roots.next().is_none(), "two roots: {self:?}");
        root
    }

    /// The names as a tree, one line a span, children in the order in which they began.
    pub(crate) fn tree(&self) -> String {
        let mut tree = String::new();
        self.write(self.root(), 0, &mut tree);
        assert_eq!(tree.lines().count(), self.spans.len(), "spans without a way to the root");
        tree
    }

    fn write(&self, span: &Span, depth: usize, tree: &mut String) {
        writeln!(tree, "{}{}", "  ".repeat(depth), span.name).unwrap();
        for child in self.spans.iter().filter(|child| child.parent_span_id == span.span_id) {
            assert!(span.start_time_unix_nano <= child.start_time_unix_nano, "{self:?}");
            assert!(child.end_time_unix_nano <= span.end_time_unix_nano, "{self:?}");
            self.write(child, depth + 1, tree);
        }
    }

    /// The spans with this name, in the order in which they began.
    pub(crate) fn named(&self, name: &str) -> Vec<&Span> {
        self.spans.iter().filter(|span| span.name == name).collect()
    }
}

/// Attributes as `name=value`, in order of their names.
pub(crate) fn shown(attributes: &[KeyValue]) -> Vec<String> {
    let mut shown: Vec<String> = attributes
        .iter()
        .map(|attribute| format!("{}={}", attribute.key, shown_value(attribute.value.as_ref())))
        .collect();
    shown.sort();
    shown
}

fn shown_value(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => format!("{text:?}"),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::ArrayValue(array)) => {
            let values = array.values.iter().map(|value| shown_value(Some(value)));
            format!("[{}]", values.collect::<Vec<_>>().join(","))
        }
        other => panic!("no attribute of ours is {other:?}"),
    }
}

/// True when the span says that something went wrong.
pub(crate) fn has_failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}
