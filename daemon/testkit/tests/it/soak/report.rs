//! The tables that a soak prints.

use std::collections::BTreeMap;

use super::gauge::Sample;
use super::growth::{Growth, Rest};
use super::ledger::Tally;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) tally: &'a Tally,
    /// Answers of the model server by kind.
    pub(crate) chaotic: &'a BTreeMap<&'static str, u64>,
    pub(crate) served: usize,
    pub(crate) at_first: Sample,
    pub(crate) windows: [Sample; 4],
    pub(crate) rests: &'a [Rest],
    pub(crate) growth: Option<Growth>,
}

#[expect(clippy::print_stdout, reason = "it prints what was measured")]
impl Report<'_> {
    pub(crate) fn print(&self) {
        self.counts();
        self.memory();
    }

    fn counts(&self) {
        let tally = self.tally;
        let mut turn_ms = tally.turn_ms.clone();
        turn_ms.sort_unstable();
        let at = |percent: usize| turn_ms.get(turn_ms.len() * percent / 100).copied().unwrap_or(0);
        println!("| what                                     |      count |");
        println!("| ---------------------------------------- | ---------: |");
        let row = |what: &str, count: &str| println!("| {what:<40} | {count:>10} |");
        for (what, count) in &tally.ends {
            row(what, &count.to_string());
        }
        for (provider, count) in &tally.providers {
            row(&format!("turns by {provider}"), &count.to_string());
        }
        for (kind, count) in self.chaotic {
            row(&format!("answers: {kind}"), &count.to_string());
        }
        row("messages that reached an end", &tally.messages.to_string());
        row("requests to the model server", &self.served.to_string());
        row("answers begun anew after text was shown", &tally.restarts.to_string());
        row("tool calls", &tally.tool_calls.to_string());
        row("sessions", &tally.sessions.to_string());
        row("durable events", &tally.events.to_string());
        row("clients that left and came back", &tally.resumed.to_string());
        row("clients that read too slowly", &tally.lagged.to_string());
        row("connections that broke", &tally.lost.to_string());
        row("turn, p50", &format!("{} ms", at(50)));
        row("turn, p99", &format!("{} ms", at(99)));
        row("turn, longest", &format!("{} ms", turn_ms.last().copied().unwrap_or(0)));
        println!();
    }

    fn memory(&self) {
        println!("| window         | resident KiB | descriptors |");
        println!("| -------------- | -----------: | ----------: |");
        let row = |what: &str, sample: &Sample| {
            println!("| {what:<14} | {:>12} | {:>11} |", sample.resident_kib, sample.descriptors);
        };
        row("at first", &self.at_first);
        for (window, name) in self.windows.iter().zip(["first", "second", "third", "last"]) {
            row(&format!("{name} quarter"), window);
        }
        println!();
        println!(
            "| at rest after turns | heap KiB | allocations | resident KiB | descriptors | threads |"
        );
        println!(
            "| ------------------: | -------: | ----------: | -----------: | ----------: | ------: |"
        );
        for Rest { turns, heap, sample } in self.rests {
            println!(
                "| {turns:>19} | {:>8} | {:>11} | {:>12} | {:>11} | {:>7} |",
                heap.bytes / 1024,
                heap.blocks,
                sample.resident_kib,
                sample.descriptors,
                sample.threads
            );
        }
        println!();
        if let Some(Growth { bytes_per_turn, blocks_per_turn, resident_kib }) = self.growth {
            println!(
                "After the warm-up a turn leaves {bytes_per_turn:.1} bytes in {blocks_per_turn:.3} \
                 allocations; {resident_kib} KiB are resident."
            );
        }
    }
}
