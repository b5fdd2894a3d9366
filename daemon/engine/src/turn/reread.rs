//! Reading the output of an earlier call again, from the log. Requests may hold only a note of it.

use agentd_domain::{EventBody, OutputPart, OutputRequest, ToolCallFinished, ToolStatus, cut_line};

use super::TurnTask;
use crate::session::LOAD_PAGE;

/// Lines that are shown before and after one that matches.
const AROUND: usize = 2;
/// Most lines that match and are shown.
const MOST_MATCHES: usize = 50;
/// Characters of a line.
const LINE: usize = 500;

impl TurnTask {
    /// Writes what a call asks of an earlier output into its result.
    pub(super) async fn reread(&self, request: OutputRequest, finished: &mut ToolCallFinished) {
        let OutputRequest { call_id, part } = request;
        let (status, code, output) = match self.output_of(&call_id).await {
            Ok(Some(earlier)) => match shown(&earlier, &part) {
                Some(output) => (ToolStatus::Success, "", output),
                None => (ToolStatus::Empty, "", nothing(&earlier, &part)),
            },
            Ok(None) => {
                let id = cut_line(&call_id, 64);
                let output = format!(
                    "[call_id: no call '{id}' has ended in this session. The note in place of an \
                     output says its call_id.]"
                );
                (ToolStatus::FatalError, "NOT_FOUND", output)
            }
            Err(error) => {
                let output = format!("[the log cannot be read now: {error}]");
                (ToolStatus::RetryableError, "IO_ERROR", output)
            }
        };
        finished.status = status;
        code.clone_into(&mut finished.error_code);
        finished.output_bytes = u64::try_from(output.len()).unwrap_or(u64::MAX);
        finished.output = output;
    }

    /// The result of a call of this session. It is looked for from the end of the log: what is asked for
    /// is seldom old.
    async fn output_of(
        &self,
        call_id: &str,
    ) -> Result<Option<ToolCallFinished>, agentd_store::ReadError> {
        let mut before = agentd_domain::Seq(u64::MAX);
        while !self.cancel.is_cancelled() {
            let page = self.deps.store.events_before(self.session_id, before, LOAD_PAGE).await?;
            let first = page.events.first().map(|event| event.seq);
            let found = page.events.into_iter().rev().find_map(|event| match event.body {
                EventBody::ToolCallFinished(finished) if finished.call_id.as_str() == call_id => {
                    Some(finished)
                }
                _ => None,
            });
            match (found, first) {
                (Some(found), _) => return Ok(Some(found)),
                (None, Some(first)) if page.more => before = first,
                (None, _) => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// The wanted part with a line above it that says of what; none when there is no such part.
fn shown(earlier: &ToolCallFinished, part: &OutputPart) -> Option<String> {
    let ToolCallFinished { name, output, .. } = earlier;
    match part {
        OutputPart::Range { offset, limit } => {
            let all = output.chars().count();
            let (offset, limit) = (to_usize(*offset), to_usize(*limit));
            let text: String = output.chars().skip(offset).take(limit).collect();
            let end = offset.saturating_add(text.chars().count());
            if text.is_empty() {
                return None;
            }
            let more = match all - end {
                0 => String::new(),
                left => format!("\n[{left} more characters: go on with offset {end}]"),
            };
            Some(format!("[output of {name}, characters {offset} to {end} of {all}]\n{text}{more}"))
        }
        OutputPart::Matching { pattern } => matching(name, output, pattern),
    }
}

fn matching(name: &str, output: &str, pattern: &str) -> Option<String> {
    let wanted = pattern.to_lowercase();
    let lines: Vec<&str> = output.lines().collect();
    let is_match = |line: &&str| line.to_lowercase().contains(&wanted);
    let hits = lines.iter().enumerate().filter(|(_, line)| is_match(line));
    let hits: Vec<usize> = hits.map(|(at, _)| at).collect();
    if hits.is_empty() {
        return None;
    }
    let all = hits.len();
    let mut rows = vec![format!("[output of {name}: {all} of {} lines match]", lines.len())];
    let mut next = 0;
    for hit in hits.into_iter().take(MOST_MATCHES) {
        let first = hit.saturating_sub(AROUND).max(next);
        if first > next && next > 0 {
            rows.push("--".to_owned());
        }
        for (at, line) in lines.iter().enumerate().skip(first).take((hit + AROUND + 1) - first) {
            let mark = if is_match(line) { ':' } else { '-' };
            rows.push(format!("{}{mark} {}", at + 1, cut(line)));
            next = at + 1;
        }
    }
    if all > MOST_MATCHES {
        let left = all - MOST_MATCHES;
        rows.push(format!("[{left} more lines match: look for a longer text]"));
    }
    Some(rows.join("\n"))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn nothing(earlier: &ToolCallFinished, part: &OutputPart) -> String {
    let ToolCallFinished { name, output, .. } = earlier;
    match part {
        OutputPart::Range { .. } => {
            let all = output.chars().count();
            format!("[the output of {name} has {all} characters; there is nothing at that offset]")
        }
        OutputPart::Matching { .. } => {
            let lines = output.lines().count();
            format!("[none of the {lines} lines of the output of {name} has that text]")
        }
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use agentd_domain::{ToolCall, ToolResult};

    use super::*;

    fn earlier(output: &str) -> ToolCallFinished {
        let call = ToolCall {
            call_id: "c1".parse().unwrap(),
            name: "grep_files".to_owned(),
            arguments_json: "{}".to_owned(),
        };
        ToolCallFinished::not_run(&call, ToolResult::success(output))
    }

    fn range(output: &str, offset: u32, limit: u32) -> Option<String> {
        shown(&earlier(output), &OutputPart::Range { offset, limit })
    }

    fn lines(output: &str, pattern: &str) -> Option<String> {
        shown(&earlier(output), &OutputPart::Matching { pattern: pattern.to_owned() })
    }

    #[test]
    fn a_range_counts_characters_and_says_how_to_go_on() {
        assert_eq!(
            range("世界地図", 1, 2).as_deref(),
            Some(
                "[output of grep_files, characters 1 to 3 of 4]\n界地\n[1 more characters: go on with \
                 offset 3]"
            )
        );
        let whole = range("abc", 0, 100);
        assert_eq!(whole.as_deref(), Some("[output of grep_files, characters 0 to 3 of 3]\nabc"));
        assert_eq!(range("abc", 3, 1), None);
        assert_eq!(range("", 0, 1), None);
    }

    #[test]
    fn lines_around_a_text_are_shown_once_with_their_numbers() {
        let output = "a\nb\nFind me\nc\nd\ne\nf\ng\nfind it\nfind too";
        assert_eq!(
            lines(output, "find").as_deref(),
            Some(
                "[output of grep_files: 3 of 10 lines match]\n1- a\n2- b\n3: Find me\n4- c\n5- d\n--\n7- f\
                 \n8- g\n9: find it\n10: find too"
            )
        );
        assert_eq!(lines(output, "nowhere"), None);
    }

    #[test]
    fn however_many_lines_match_the_result_is_bounded() {
        let output = format!("{}\n", "x".repeat(5_000)).repeat(1_000);
        let told = lines(&output, "x").unwrap();
        assert!(told.len() < (MOST_MATCHES + AROUND) * (LINE + 20) + 200, "{}", told.len());
        assert!(told.ends_with("[950 more lines match: look for a longer text]"));
    }
}
