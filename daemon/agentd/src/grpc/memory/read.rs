//! Reading what requests say of memories.

use agentd_domain::{
    MemoryCategory, MemoryPriority, MemoryScope, MemoryStatus, TimestampMs, cut_line,
};
use agentd_memory::Filter;
use agentd_proto::v1;
use agentd_proto::v1::memory_scope::Scope;
use tonic::Status;

use crate::grpc::status::bad_field;

/// Most bytes of a path or a name of a scope.
const MAX_SCOPE: usize = 4096;

/// Most scopes, states and tags of a filter.
const MAX_WANTED: usize = 100;

/// Most bytes of the words to find.
const MAX_WORDS: usize = 16 * 1024;

/// Reads a priority; none: any, or the usual one.
pub(super) fn priority(field: &str, number: i32) -> Result<Option<MemoryPriority>, Status> {
    match v1::MemoryPriority::try_from(number) {
        Ok(v1::MemoryPriority::Unspecified) => Ok(None),
        Ok(v1::MemoryPriority::Critical) => Ok(Some(MemoryPriority::Critical)),
        Ok(v1::MemoryPriority::High) => Ok(Some(MemoryPriority::High)),
        Ok(v1::MemoryPriority::Medium) => Ok(Some(MemoryPriority::Medium)),
        Ok(v1::MemoryPriority::Low) => Ok(Some(MemoryPriority::Low)),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a priority of memories"),
            "use MEMORY_PRIORITY_CRITICAL, MEMORY_PRIORITY_HIGH, MEMORY_PRIORITY_MEDIUM or \
             MEMORY_PRIORITY_LOW",
        )),
    }
}

/// Reads a category; none: any, or the usual one.
pub(super) fn category(field: &str, number: i32) -> Result<Option<MemoryCategory>, Status> {
    match v1::MemoryCategory::try_from(number) {
        Ok(v1::MemoryCategory::Unspecified) => Ok(None),
        Ok(v1::MemoryCategory::Instruction) => Ok(Some(MemoryCategory::Instruction)),
        Ok(v1::MemoryCategory::Preference) => Ok(Some(MemoryCategory::Preference)),
        Ok(v1::MemoryCategory::Fact) => Ok(Some(MemoryCategory::Fact)),
        Ok(v1::MemoryCategory::Reminder) => Ok(Some(MemoryCategory::Reminder)),
        Ok(v1::MemoryCategory::General) => Ok(Some(MemoryCategory::General)),
        Ok(v1::MemoryCategory::Reflection) => Ok(Some(MemoryCategory::Reflection)),
        Err(_unknown) => Err(bad_field(
            field,
            &format!("{number} is not a category of memories"),
            "use MEMORY_CATEGORY_INSTRUCTION, MEMORY_CATEGORY_PREFERENCE, MEMORY_CATEGORY_FACT, \
             MEMORY_CATEGORY_REMINDER, MEMORY_CATEGORY_GENERAL or MEMORY_CATEGORY_REFLECTION",
        )),
    }
}

/// Reads an importance; none: the usual one.
pub(super) fn importance(field: &str, number: u32) -> Result<Option<u8>, Status> {
    match number {
        0 => Ok(None),
        1..=5 => Ok(u8::try_from(number).ok()),
        _ => Err(bad_field(
            field,
            &format!("{number} is not between 1 and 5"),
            "give a number from 1 (trivial) to 5 (to ignore it causes serious trouble)",
        )),
    }
}

/// Reads the name of a status.
fn status(field: &str, number: i32) -> Result<&'static str, Status> {
    match v1::MemoryStatus::try_from(number) {
        Ok(v1::MemoryStatus::Active) => Ok(MemoryStatus::Active.name()),
        Ok(v1::MemoryStatus::Quarantined) => Ok(MemoryStatus::Quarantined.name()),
        Ok(v1::MemoryStatus::Forgotten) => Ok(MemoryStatus::Forgotten.name()),
        Ok(v1::MemoryStatus::Merged) => Ok("merged"),
        Ok(v1::MemoryStatus::Superseded) => Ok("superseded"),
        Ok(v1::MemoryStatus::Expired) => Ok(MemoryStatus::Expired.name()),
        Ok(v1::MemoryStatus::Displaced) => Ok(MemoryStatus::Displaced.name()),
        Ok(v1::MemoryStatus::Faded) => Ok(MemoryStatus::Faded.name()),
        Ok(v1::MemoryStatus::Unspecified) | Err(_) => Err(bad_field(
            field,
            &format!("{number} is not a status of memories"),
            "use MEMORY_STATUS_ACTIVE, MEMORY_STATUS_QUARANTINED or another one of the list",
        )),
    }
}

/// Reads where a memory is told. A workspace is known by its path without links, if it is there.
pub(super) async fn scope(
    field: &str,
    scope: Option<&v1::MemoryScope>,
) -> Result<MemoryScope, Status> {
    let bad = |problem: &str, hint: &str| Err(bad_field(field, problem, hint));
    let is_name = |text: &str| {
        !text.trim().is_empty() && text.len() <= MAX_SCOPE && !text.contains(char::is_control)
    };
    match scope.and_then(|scope| scope.scope.as_ref()) {
        None => Ok(MemoryScope::User),
        Some(Scope::Workspace(path)) if path.starts_with('/') && is_name(path) => {
            let real = tokio::fs::canonicalize(path).await.ok();
            let real = real.and_then(|real| real.into_os_string().into_string().ok());
            Ok(MemoryScope::Workspace { root: real.unwrap_or_else(|| path.clone()) })
        }
        Some(Scope::Workspace(path)) => bad(
            &format!("'{}' is not an absolute path", cut_line(path, 200)),
            "give the absolute path of the workspace",
        ),
        Some(Scope::Agent(name)) if is_name(name) => Ok(MemoryScope::Agent { name: name.clone() }),
        Some(Scope::Agent(_)) => bad("the agent's name is blank or too long", "name an agent"),
    }
}

/// Reads when something ends; none: never.
pub(super) fn time(at_ms: i64) -> Option<TimestampMs> {
    (at_ms != 0).then_some(TimestampMs(at_ms))
}

/// Reads which memories are wanted.
pub(super) async fn filter(filter: v1::MemoryFilter) -> Result<Filter, Status> {
    let v1::MemoryFilter { text, scopes, statuses, category, priority, tags, min_importance } =
        filter;
    if text.len() > MAX_WORDS {
        let problem = format!("it has {} bytes; at most {MAX_WORDS} are looked for", text.len());
        return Err(bad_field("filter.text", &problem, "look for fewer words"));
    }
    let lists = [
        ("filter.scopes", scopes.len()),
        ("filter.statuses", statuses.len()),
        ("filter.tags", tags.len()),
    ];
    for (field, length) in lists {
        if length > MAX_WANTED {
            let problem = format!("there are {length}; at most {MAX_WANTED} are taken");
            return Err(bad_field(field, &problem, "ask for fewer"));
        }
    }
    let mut wanted = Vec::new();
    for one in &scopes {
        wanted.push(scope("filter.scopes", Some(one)).await?);
    }
    Ok(Filter {
        text,
        scopes: wanted,
        statuses: statuses
            .into_iter()
            .map(|number| status("filter.statuses", number))
            .collect::<Result<_, _>>()?,
        category: self::category("filter.category", category)?,
        priority: self::priority("filter.priority", priority)?,
        tags,
        min_importance: importance("filter.min_importance", min_importance)?.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::to_proto;

    #[test]
    fn what_is_written_is_read_back() {
        for priority in MemoryPriority::ALL {
            let number = to_proto::memory_priority(priority).into();
            assert_eq!(self::priority("p", number).unwrap(), Some(priority));
        }
        for name in MemoryCategory::NAMES {
            let category: MemoryCategory = name.parse().unwrap();
            let number = to_proto::memory_category(category).into();
            assert_eq!(self::category("c", number).unwrap(), Some(category));
        }
        let id = agentd_domain::MemoryId::from_parts(1, 2);
        for status in [
            MemoryStatus::Active,
            MemoryStatus::Quarantined,
            MemoryStatus::Forgotten,
            MemoryStatus::Merged { into: id },
            MemoryStatus::Superseded { by: id },
            MemoryStatus::Expired,
            MemoryStatus::Displaced,
            MemoryStatus::Faded,
        ] {
            let number = to_proto::memory_status(&status).into();
            assert_eq!(self::status("s", number).unwrap(), status.name());
        }
        assert!(status("s", 0).is_err() && priority("p", 99).is_err());
        assert!(category("c", 99).is_err() && importance("i", 6).is_err());
    }

    #[tokio::test]
    async fn scopes_are_read_back_and_nonsense_is_refused() {
        for scope in [
            MemoryScope::User,
            MemoryScope::Workspace { root: "/nowhere/at/all".to_owned() },
            MemoryScope::Agent { name: "reviewer".to_owned() },
        ] {
            let written = to_proto::memory_scope(&scope);
            assert_eq!(self::scope("s", Some(&written)).await.unwrap(), scope);
        }
        let long = format!("/{}", "x".repeat(MAX_SCOPE));
        for bad in [
            Scope::Workspace("here".to_owned()),
            Scope::Workspace("/a\nb".to_owned()),
            Scope::Workspace(long),
            Scope::Agent(" ".to_owned()),
        ] {
            let bad = v1::MemoryScope { scope: Some(bad) };
            assert!(scope("s", Some(&bad)).await.is_err(), "{bad:?}");
        }
    }
}
