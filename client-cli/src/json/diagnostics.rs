//! Views of log records and checks.

use std::collections::BTreeMap;

use agentd_proto::v1;
use serde::Serialize;

/// One log record.
#[derive(Debug, Serialize)]
pub(crate) struct LogRecordView<'a> {
    at_ms: i64,
    level: String,
    target: &'a str,
    message: &'a str,
    fields: BTreeMap<&'a str, &'a str>,
}

impl<'a> From<&'a v1::LogRecord> for LogRecordView<'a> {
    fn from(record: &'a v1::LogRecord) -> Self {
        let v1::LogRecord { at_ms, level, target, message, fields } = record;
        Self {
            at_ms: *at_ms,
            level: super::log_level(*level),
            target,
            message,
            fields: fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(crate) struct CheckView<'a> {
    name: &'a str,
    outcome: String,
    detail: &'a str,
    remedy: &'a str,
}

impl<'a> From<&'a v1::Check> for CheckView<'a> {
    fn from(check: &'a v1::Check) -> Self {
        let v1::Check { name, outcome, detail, remedy } = check;
        Self { name, outcome: super::check_outcome(*outcome), detail, remedy }
    }
}
