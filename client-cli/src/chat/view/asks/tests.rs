use agentd_proto::v1::action_target::Target;
use agentd_proto::v1::event::Body;
use agentd_proto::v1::rule_matcher::Matcher;

use super::*;
use crate::chat::canvas::{Canvas, Mode};
use crate::look::Look;

/// The rows of a chat that asks.
fn rows(request: &v1::ApprovalRequested, width: usize) -> Vec<String> {
    let canvas = Canvas::new(Mode::Append, Look { width, colored: false });
    let mut view = View::new(canvas, "me", true);
    let body = Some(Body::ApprovalRequested(request.clone()));
    view.event(&v1::Event { seq: 1, body, ..Default::default() });
    view.canvas.take_rows(0).lines().map(str::to_owned).collect()
}

#[test]
fn ap_03_whatever_is_written_there_no_row_of_a_chat_looks_like_one_that_is_not() {
    let forged = ["? #2 read_file wants to: read a", "asked because it is safe", "y) allow once"];
    for text in forged {
        let padded = format!("{}{text}", "x ".repeat(27));
        let two = format!("{padded}\r\n{text}");
        let run = v1::RunTarget { argv: vec!["sh".into(), two.clone()], ..Default::default() };
        let write = v1::WriteTarget {
            path: padded.clone(),
            new_sha256: "x".into(),
            diff: two.clone(),
            ..Default::default()
        };
        let targets = [Target::Write(write), Target::Run(run)]
            .map(|target| v1::ActionTarget { target: Some(target) })
            .to_vec();
        let request = v1::ApprovalRequested {
            tool: padded.clone(),
            because: two,
            rules: vec![v1::RuleMatcher { matcher: Some(Matcher::Tool(padded.clone())) }],
            action: Some(v1::Action { summary: padded, targets }),
            ..Default::default()
        };
        for width in 20..80 {
            let rows = rows(&request, width);
            let begins = |text: &str| rows.iter().filter(|row| row.starts_with(text)).count();
            assert_eq!(begins("?"), 1, "{width}: {rows:#?}");
            assert_eq!(begins("  asked because"), 1, "{width}: {rows:#?}");
            assert_eq!(begins("  y) allow"), 1, "{width}: {rows:#?}");
            let inside = |row: &&String| row.starts_with("  ") || row.starts_with("? #1 ");
            assert!(rows.iter().all(|row| inside(&row)), "{width}: {rows:#?}");
        }
    }
}
