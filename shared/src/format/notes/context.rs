//! Events about what requests are made of, a line each.

use agentd_proto::v1;

use super::{DETAIL_WIDTH, by};
use crate::text::{grouped, human_bytes, one_line};

/// What was left out.
pub(super) fn trimmed(trimmed: &v1::ContextTrimmed) -> String {
    let v1::ContextTrimmed { first_kept_seq: _, dropped_tokens, steps } = trimmed;
    let tokens = grouped(*dropped_tokens);
    if steps.is_empty() {
        return format!("◆ older turns no longer fit: about {tokens} tokens left out");
    }
    let steps: Vec<String> = steps.iter().copied().map(step).collect();
    format!("◆ left out of requests: {}; about {tokens} tokens", steps.join(", "))
}

fn step(step: v1::TrimStep) -> String {
    let keep = u64::from(step.keep);
    let (many, kept) = (plural(keep, "turn"), grouped(keep));
    let newest = |what: &str| match keep {
        0 => what.to_owned(),
        _ => format!("{what} but for those of the last {many}"),
    };
    match step.kind() {
        v1::TrimKind::Recalled => newest("recalled turns"),
        v1::TrimKind::Outputs => newest("outputs of tools"),
        v1::TrimKind::Reasoning => newest("reasoning"),
        v1::TrimKind::LongTexts => {
            format!("the middle of older texts of more than {kept} characters")
        }
        v1::TrimKind::EarlierRounds => {
            let rounds = plural(keep, "round");
            format!("outputs of this turn's tools but for the last {rounds}")
        }
        v1::TrimKind::LongOutputs => {
            format!("the middle of outputs of more than {}", human_bytes(keep))
        }
        v1::TrimKind::Unspecified => "parts that this version does not know".to_owned(),
    }
}

/// What was folded.
pub fn compacted(compacted: &v1::ContextCompacted) -> String {
    let lines = plural(compacted.lines.len() as u64, "line");
    let before = grouped(compacted.tokens_before);
    let after = grouped(compacted.tokens_after);
    let what = match compacted.folded_turns {
        0 => format!("rewrote the summary of older turns in {lines}"),
        turns => {
            let turns = plural(u64::from(turns), "older turn");
            format!("folded {turns} into a summary of {lines}")
        }
    };
    format!("◆ {what}, {before} → {after} tokens (/expand shows what a line is from)")
}

/// What the model read again.
pub(super) fn recalled(recalled: &v1::TurnsRecalled) -> String {
    format!("◆ recalled {}", plural(recalled.turns.len() as u64, "earlier turn"))
}

/// What is pinned.
pub(super) fn pins(pins: &[String], who: Option<&v1::Author>, me: &str) -> String {
    let by = by(who, me);
    match pins {
        [] => format!("◆ nothing is pinned any more{by}"),
        [.., newest] => {
            let newest = one_line(newest, DETAIL_WIDTH);
            let count = plural(pins.len() as u64, "text");
            format!("◆ {count} pinned{by}, the last: {newest}")
        }
    }
}

/// The document of the workspace.
pub(super) fn document(changed: &v1::ProjectDocumentChanged) -> String {
    let v1::ProjectDocumentChanged { path, sha256, bytes, is_cut } = changed;
    if path.is_empty() && !sha256.is_empty() {
        return "◆ the workspace's document cannot be part of the requests".to_owned();
    }
    if path.is_empty() {
        return "◆ no document of the workspace is part of the requests any more".to_owned();
    }
    let cut = if *is_cut { ", of which head and tail" } else { "" };
    let (path, size) = (one_line(path, DETAIL_WIDTH), human_bytes(*bytes));
    format!("◆ {path} is part of the requests ({size}{cut})")
}

fn plural(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_named() {
        let step = |kind: v1::TrimKind, keep| v1::TrimStep { kind: kind.into(), keep };
        let mut event = v1::ContextTrimmed { dropped_tokens: 12_345, ..Default::default() };
        assert_eq!(trimmed(&event), "◆ older turns no longer fit: about 12,345 tokens left out");
        event.steps = vec![
            step(v1::TrimKind::Recalled, 0),
            step(v1::TrimKind::Outputs, 3),
            step(v1::TrimKind::Reasoning, 1),
            step(v1::TrimKind::LongTexts, 4_000),
            step(v1::TrimKind::EarlierRounds, 2),
            step(v1::TrimKind::LongOutputs, 2_048),
        ];
        assert_eq!(
            trimmed(&event),
            "◆ left out of requests: recalled turns, outputs of tools but for those of the last 3 \
             turns, reasoning but for those of the last 1 turn, the middle of older texts of more \
             than 4,000 characters, outputs of this turn's tools but for the last 2 rounds, the \
             middle of outputs of more than 2.0 KiB; about 12,345 tokens"
        );
    }

    #[test]
    fn what_was_folded_is_told_with_what_it_saved() {
        let mut event = v1::ContextCompacted {
            folded_turns: 12,
            tokens_before: 5_120,
            tokens_after: 1_480,
            lines: vec![v1::SummaryLine::default(); 9],
            ..Default::default()
        };
        assert_eq!(
            compacted(&event),
            "◆ folded 12 older turns into a summary of 9 lines, 5,120 → 1,480 tokens (/expand \
             shows what a line is from)"
        );
        (event.folded_turns, event.lines) = (0, vec![v1::SummaryLine::default()]);
        assert!(compacted(&event).starts_with("◆ rewrote the summary of older turns in 1 line, "));
    }

    #[test]
    fn documents_and_pins_are_named_without_what_moves_the_cursor() {
        let mut changed = v1::ProjectDocumentChanged {
            path: "AGENTS.md".into(),
            bytes: 2_150,
            ..Default::default()
        };
        assert_eq!(document(&changed), "◆ AGENTS.md is part of the requests (2.1 KiB)");
        changed.is_cut = true;
        assert!(document(&changed).ends_with(" (2.1 KiB, of which head and tail)"));
        changed.path.clear();
        assert!(document(&changed).starts_with("◆ no document of the workspace is part"));
        changed.sha256.push_str("ab");
        assert!(document(&changed).contains("cannot be part of the requests"));
        let author = v1::Author { client_id: "x".into(), name: "ann".into() };
        let pinned = ["a".to_owned(), "keep\u{1b}[2J\nto it".to_owned()];
        let told = pins(&pinned, Some(&author), "me");
        assert_eq!(told, "◆ 2 texts pinned by ann, the last: keep\\u{1b}[2J to it");
        assert_eq!(pins(&[], Some(&author), "x"), "◆ nothing is pinned any more");
        let recalled_turns =
            v1::TurnsRecalled { turns: vec![v1::SeqRange::default(); 2], ..Default::default() };
        assert_eq!(recalled(&recalled_turns), "◆ recalled 2 earlier turns");
    }
}
