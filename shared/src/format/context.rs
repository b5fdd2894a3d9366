//! What requests are made of: the layers with their bars, and what stands beside them.

use agentd_proto::v1;

use crate::text::{grouped, one_line};

/// Columns of a bar that is all of the window.
const BAR: u64 = 24;
/// Columns of a name or a title.
const NAME_WIDTH: usize = 40;
/// Columns of a text.
const TEXT_WIDTH: usize = 100;

/// What bars are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bars {
    /// Blocks of an eighth of a column.
    Fine,
    /// Characters that every terminal has.
    Ascii,
}

impl Bars {
    /// A part of the whole; never nothing of something.
    fn draw(self, part: u64, whole: u64) -> String {
        let scaled = |columns: u64| {
            let exact = u128::from(part) * u128::from(columns) / u128::from(whole.max(1));
            let least = u128::from(part > 0);
            usize::try_from(exact.max(least).min(columns.into())).unwrap_or(0)
        };
        match self {
            Self::Ascii => "#".repeat(scaled(BAR)),
            Self::Fine => {
                const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
                let eighths = scaled(BAR * 8);
                let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
                format!("{}{rest}", "█".repeat(eighths / 8))
            }
        }
    }
}

/// The layers as a table with bars, and what is said beside them.
pub fn lines(context: &v1::GetContextResponse, title: &str, bars: Bars) -> Vec<String> {
    let used = context.layers.iter().fold(0_u64, |sum, layer| sum.saturating_add(layer.tokens));
    let (window, answer) = (context.window_tokens, context.answer_tokens);
    let free = window.saturating_sub(answer).saturating_sub(used);
    let mut lines = vec![heading(context, title, used)];
    let mut rows: Vec<(&str, u64)> =
        context.layers.iter().map(|layer| (layer_name(layer.kind()), layer.tokens)).collect();
    rows.push(("kept for the answer", answer));
    rows.push(("free", free));
    let name_width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let tokens = rows.iter().map(|(_, tokens)| grouped(*tokens)).collect::<Vec<_>>();
    let tokens_width = tokens.iter().map(String::len).max().unwrap_or(0);
    for ((name, part), tokens) in rows.iter().zip(tokens) {
        let bar = bars.draw(*part, window);
        let share = share(*part, window);
        let row = format!("  {name:<name_width$}  {tokens:>tokens_width$}  {share:>6}  {bar}");
        lines.push(row.trim_end().to_owned());
    }
    lines.push(thresholds(context));
    lines.extend(beside(context));
    lines
}

fn heading(context: &v1::GetContextResponse, title: &str, used: u64) -> String {
    let title = match title {
        "" => "this session".to_owned(),
        title => format!("\"{}\"", one_line(title, NAME_WIDTH)),
    };
    let model = match context.model.as_str() {
        "" => "no model".to_owned(),
        model => one_line(model, NAME_WIDTH),
    };
    let by = one_line(&context.counted_by, NAME_WIDTH);
    format!(
        "context of {title} · {model} · {} of {} tokens ({}), counted by {by} × {:.2}",
        grouped(used),
        grouped(context.window_tokens),
        share(used, context.window_tokens),
        context.calibration,
    )
}

fn thresholds(context: &v1::GetContextResponse) -> String {
    let turns = match context.turns {
        1 => "1 turn is".to_owned(),
        turns => format!("{turns} turns are"),
    };
    let or_turns = match context.compact_above_turns {
        0 => String::new(),
        most => format!(", or with more than {most} turns,"),
    };
    format!(
        "  {turns} told whole; with more than {} tokens of conversation parts of older turns are \
         left out, with more than {}{or_turns} older turns are folded",
        grouped(context.trim_above_tokens),
        grouped(context.compact_above_tokens),
    )
}

fn beside(context: &v1::GetContextResponse) -> Vec<String> {
    let mut lines = Vec::new();
    if !context.project_document.is_empty() {
        let path = one_line(&context.project_document, TEXT_WIDTH);
        lines.push(format!("  project document: {path}"));
    }
    if let Some(summary) = &context.summary {
        let by = match summary.model.as_str() {
            "" => "made of pieces of them".to_owned(),
            model => format!("written by {}", one_line(model, NAME_WIDTH)),
        };
        let count = match summary.lines.len() {
            1 => "1 line".to_owned(),
            many => format!("{many} lines"),
        };
        lines.push(format!(
            "  summary of older turns: {count}, {by} (expand shows what each is from)"
        ));
    }
    if !context.pins.is_empty() {
        lines.push("  pinned:".to_owned());
        lines.extend(pins(&context.pins));
    }
    if !context.stopped.is_empty() {
        lines.push(format!("  folding has stopped: {}", one_line(&context.stopped, TEXT_WIDTH)));
    }
    lines
}

/// What is pinned, with the numbers by which it is taken back.
pub fn pins(pins: &[String]) -> Vec<String> {
    let line = |(at, pin): (usize, &String)| format!("    {}  {}", at + 1, one_line(pin, 500));
    pins.iter().enumerate().map(line).collect()
}

/// In percent, with a place after the point where that says something.
fn share(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1_000 / u128::from(whole.max(1));
    match tenths {
        0 if part > 0 => "<0.1 %".to_owned(),
        0..100 => format!("{}.{} %", tenths / 10, tenths % 10),
        _ => format!("{} %", (tenths + 5) / 10),
    }
}

fn layer_name(kind: v1::ContextLayerKind) -> &'static str {
    match kind {
        v1::ContextLayerKind::Unspecified => "other",
        v1::ContextLayerKind::System => "instructions",
        v1::ContextLayerKind::Tools => "tools",
        v1::ContextLayerKind::Project => "project document",
        v1::ContextLayerKind::Summary => "summary",
        v1::ContextLayerKind::Recalled => "recalled turns",
        v1::ContextLayerKind::Memories => "memories",
        v1::ContextLayerKind::Resumed => "reminders",
        v1::ContextLayerKind::User => "users",
        v1::ContextLayerKind::Assistant => "assistant",
        v1::ContextLayerKind::ToolOutputs => "tool outputs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> v1::GetContextResponse {
        let layer = |kind: v1::ContextLayerKind, tokens| v1::ContextLayer {
            kind: kind.into(),
            tokens,
            messages: 1,
        };
        v1::GetContextResponse {
            model: "gpt-5".to_owned(),
            window_tokens: 128_000,
            answer_tokens: 16_000,
            layers: vec![
                layer(v1::ContextLayerKind::System, 310),
                layer(v1::ContextLayerKind::Tools, 2_300),
                layer(v1::ContextLayerKind::ToolOutputs, 38_590),
            ],
            trim_above_tokens: 87_000,
            compact_above_tokens: 100_000,
            turns: 12,
            counted_by: "o200k".to_owned(),
            calibration: 1.04,
            ..Default::default()
        }
    }

    #[test]
    fn each_layer_has_its_tokens_its_share_and_a_bar() {
        let told = lines(&context(), "fix the parser", Bars::Fine);
        assert_eq!(
            told,
            [
                "context of \"fix the parser\" · gpt-5 · 41,200 of 128,000 tokens (32 %), counted by \
                 o200k × 1.04",
                "  instructions            310   0.2 %  ▏",
                "  tools                 2,300   1.7 %  ▍",
                "  tool outputs         38,590    30 %  ███████▏",
                "  kept for the answer  16,000    13 %  ███",
                "  free                 70,800    55 %  █████████████▎",
                "  12 turns are told whole; with more than 87,000 tokens of conversation parts of older \
                 turns are left out, with more than 100,000 older turns are folded",
            ]
        );
    }

    #[test]
    fn a_plain_terminal_gets_plain_bars_and_nothing_hides_in_what_is_told() {
        let mut context = context();
        context.compact_above_turns = 10;
        context.project_document = "AGENTS.md\u{1b}[2J".to_owned();
        context.pins = vec!["keep\nto tabs".to_owned()];
        context.stopped = "no\u{7}thing shorter".to_owned();
        context.summary = Some(v1::ContextCompacted {
            lines: vec![v1::SummaryLine::default(); 9],
            model: "m\u{1b}1".to_owned(),
            ..Default::default()
        });
        let told = lines(&context, "", Bars::Ascii);
        assert!(told[2].ends_with("1.7 %  #"), "{told:#?}");
        assert!(told[3].ends_with("30 %  #######"), "{told:#?}");
        assert!(told[6].contains("with more than 100,000, or with more than 10 turns, older"));
        assert!(!told.concat().contains(char::is_control), "{told:#?}");
        assert!(told.concat().contains("1  keep to tabs"), "{told:#?}");
        assert!(told[8].contains("9 lines, written by m"), "{told:#?}");
    }

    #[test]
    fn an_empty_window_is_no_trouble() {
        let told = lines(&v1::GetContextResponse::default(), "", Bars::Fine);
        assert!(told[0].contains("no model · 0 of 0 tokens (0.0 %)"), "{told:#?}");
    }
}
