//! The durable sums over all sessions: one counter for each day, purpose, provider and model.
//!
//! A counter grows in the commit that holds the UsageRecorded event, so the sums and the logs say the
//! same after any crash. The ledger is as large as days times models; deleting a session leaves it. It
//! begins with the first request after it was introduced: what older releases recorded stands in the
//! sums of the sessions only. Copies of sessions add nothing: their requests were made once.

use agentd_domain::{Cost, Day, Event, EventBody, Usage, UsagePurpose, UsageRecorded, UsageSum};
use agentd_store::{Counter, ReadError, Store, Write};

/// Beginning of the ledger's counters.
const PREFIX: &str = "usage/";
/// Counters read at once.
const PAGE: usize = 1_000;
/// Bytes of a model's name that tell it from others.
const MODEL_BYTES: usize = 256;

/// Sums of a model for a purpose on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) day: Day,
    /// "turn", "title", or what a newer release writes.
    pub(crate) purpose: String,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) sum: UsageSum,
}

/// What a commit with these events adds.
pub(crate) fn writes(events: &[Event]) -> impl Iterator<Item = Write> + '_ {
    events.iter().filter_map(|event| match &event.body {
        EventBody::UsageRecorded(recorded) => Some(Write::AddToCounter {
            name: name(Day::of(event.at), recorded),
            by: numbers(&recorded.usage, &recorded.cost),
        }),
        _ => None,
    })
}

/// Reads the days of a range, both ends included, and gives each entry to `visit`.
pub(crate) async fn read(
    store: &dyn Store,
    days: (Day, Day),
    mut visit: impl FnMut(Entry) + Send,
) -> Result<(), ReadError> {
    let (first, last) = days;
    let until = match last.0.checked_add(1) {
        Some(next) => day_prefix(Day(next)),
        None => format!("{PREFIX}~"),
    };
    let mut after = day_prefix(first);
    loop {
        let page = store.counters(&after, &until, PAGE).await?;
        let is_last = page.len() < PAGE;
        if let Some(counter) = page.last() {
            after.clone_from(&counter.name);
        }
        page.iter().filter_map(entry).for_each(&mut visit);
        if is_last {
            return Ok(());
        }
    }
}

/// Ten digits, so that names sort as days do.
fn day_prefix(Day(day): Day) -> String {
    format!("{PREFIX}{day:010}/")
}

/// The model comes last: its name may hold anything.
fn name(day: Day, recorded: &UsageRecorded) -> String {
    let UsageRecorded { purpose, provider, model, .. } = recorded;
    let end = agentd_domain::floor_char_boundary(model, MODEL_BYTES);
    let model = model.get(..end).unwrap_or_default();
    format!("{}{}/{provider}/{model}", day_prefix(day), purpose.as_str())
}

fn entry(counter: &Counter) -> Option<Entry> {
    let mut parts = counter.name.strip_prefix(PREFIX)?.splitn(4, '/');
    let day = Day(parts.next()?.parse().ok()?);
    let (purpose, provider, model) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Entry {
        day,
        purpose: purpose.to_owned(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        sum: sum(&counter.values),
    })
}

/// Numbers of one set of tokens.
const TOKENS: usize = 5;

/// A request as numbers: how many, exact tokens, estimated tokens, cost. New numbers go to the end.
fn numbers(usage: &Usage, cost: &Cost) -> Vec<u64> {
    let Usage {
        prompt_tokens,
        completion_tokens,
        reasoning_tokens,
        cached_prompt_tokens,
        cache_write_tokens,
        estimated,
    } = *usage;
    let Cost { nano_usd, estimated_nano_usd, unpriced_requests } = *cost;
    let tokens: [u64; TOKENS] = [
        prompt_tokens,
        completion_tokens,
        reasoning_tokens,
        cached_prompt_tokens,
        cache_write_tokens,
    ];
    let none = [0; TOKENS];
    let (exact, estimated) = if estimated { (none, tokens) } else { (tokens, none) };
    let cost = [nano_usd, estimated_nano_usd, unpriced_requests];
    std::iter::once(1).chain(exact).chain(estimated).chain(cost).collect()
}

fn sum(values: &[u64]) -> UsageSum {
    let at = |position: usize| values.get(position).copied().unwrap_or(0);
    let tokens = |from: usize| Usage {
        prompt_tokens: at(from),
        completion_tokens: at(from + 1),
        reasoning_tokens: at(from + 2),
        cached_prompt_tokens: at(from + 3),
        cache_write_tokens: at(from + 4),
        estimated: false,
    };
    let (exact, mut estimated) = (tokens(1), tokens(1 + TOKENS));
    estimated.estimated = estimated != Usage::default();
    let cost = 1 + 2 * TOKENS;
    UsageSum {
        requests: at(0),
        exact,
        estimated,
        cost: Cost {
            nano_usd: at(cost),
            estimated_nano_usd: at(cost + 1),
            unpriced_requests: at(cost + 2),
        },
    }
}

/// The purpose of an entry; none when a newer release wrote it.
pub(crate) fn purpose(name: &str) -> Option<UsagePurpose> {
    UsagePurpose::ALL.into_iter().find(|purpose| purpose.as_str() == name)
}

#[cfg(test)]
mod tests {
    use agentd_domain::{Seq, TimestampMs};
    use agentd_store::{Batch, MemoryStore};

    use super::*;

    fn event(day: i64, model: &str, purpose: UsagePurpose, usage: Usage) -> Event {
        let body = EventBody::from(UsageRecorded {
            purpose,
            provider: "p".to_owned(),
            model: model.to_owned(),
            usage,
            first_byte_ms: 0,
            elapsed_ms: 0,
            cost: Cost { nano_usd: 3, estimated_nano_usd: 2, unpriced_requests: 1 },
        });
        Event { seq: Seq(1), at: TimestampMs(day * 86_400_000 + 5), turn_id: None, body }
    }

    fn tokens(prompt_tokens: u64, estimated: bool) -> Usage {
        Usage {
            prompt_tokens,
            completion_tokens: 2,
            reasoning_tokens: 1,
            cached_prompt_tokens: 4,
            cache_write_tokens: 5,
            estimated,
        }
    }

    #[tokio::test]
    async fn what_is_added_is_read_back_by_day_purpose_and_model() {
        let store = MemoryStore::new();
        let (turn, title) = (UsagePurpose::Turn, UsagePurpose::Title);
        for event in [
            event(3, "a/b", turn, tokens(10, false)),
            event(3, "a/b", turn, tokens(20, true)),
            event(3, "a/b", title, tokens(1, false)),
            event(4, "a/b", turn, tokens(7, false)),
            event(5, "later", turn, tokens(7, false)),
            event(2, "earlier", turn, tokens(7, false)),
        ] {
            let batch = Batch::from(writes(&[event]).collect::<Vec<_>>());
            store.commit(batch).await.unwrap();
        }
        let mut entries = Vec::new();
        read(&store, (Day(3), Day(4)), |entry| entries.push(entry)).await.unwrap();
        let seen: Vec<_> = entries
            .iter()
            .map(|Entry { day, purpose, provider, model, sum }| {
                let (exact, estimated) = (sum.exact.prompt_tokens, sum.estimated.prompt_tokens);
                let name = format!("{} {purpose} {provider} {model}", day.0);
                (name, sum.requests, exact, estimated, sum.cost.nano_usd)
            })
            .collect();
        let row = |name: &str, requests, exact, estimated, cost| {
            (name.to_owned(), requests, exact, estimated, cost)
        };
        assert_eq!(
            seen,
            [
                row("3 title p a/b", 1, 1, 0, 3),
                row("3 turn p a/b", 2, 10, 20, 6),
                row("4 turn p a/b", 1, 7, 0, 3),
            ]
        );
    }

    #[test]
    fn a_request_survives_the_way_through_numbers() {
        for estimated in [false, true] {
            let usage = tokens(9, estimated);
            let cost = Cost { nano_usd: 3, estimated_nano_usd: 2, unpriced_requests: 1 };
            let mut expect = UsageSum::default();
            expect.add(&usage, &cost);
            assert_eq!(sum(&numbers(&usage, &cost)), expect);
        }
        assert_eq!(sum(&[]), UsageSum::default());
    }

    #[test]
    fn names_end_between_characters() {
        let long = event(1, &"ä".repeat(300), UsagePurpose::Turn, Usage::default());
        let EventBody::UsageRecorded(recorded) = &long.body else { unreachable!() };
        assert_eq!(name(Day(1), recorded), format!("usage/0000000001/turn/p/{}", "ä".repeat(128)));
    }
}
