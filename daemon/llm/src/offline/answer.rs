//! What the offline engine says.

use agentd_domain::ToolSpec;
use serde_json::Value;

use crate::Message;

/// Starts each answer, so that nobody takes it for a model's.
const LABEL: &str = "[offline]";
/// Most characters of a call's arguments in a heading.
const MAX_ARGUMENT: usize = 60;

/// Shows what the tools of this turn put out.
pub(super) fn from_results(turn: &[Message]) -> String {
    let mut answer = String::new();
    for message in turn {
        let Message::Tool { call_id, name, output } = message else { continue };
        let arguments = turn.iter().find_map(|message| match message {
            Message::Assistant { tool_calls, .. } => {
                let call = tool_calls.iter().find(|call| call.call_id == *call_id)?;
                Some(summary(&call.arguments_json))
            }
            Message::System(_) | Message::User { .. } | Message::Tool { .. } => None,
        });
        if !answer.is_empty() {
            answer.push_str("\n\n");
        }
        let arguments = arguments.unwrap_or_default();
        let heading = format!("{LABEL} {name} {arguments}");
        answer.push_str(heading.trim_end());
        answer.push_str("\n\n");
        answer.push_str(&block(output));
    }
    answer
}

/// The values of the arguments in one line.
fn summary(arguments_json: &str) -> String {
    let Ok(Value::Object(arguments)) = serde_json::from_str(arguments_json) else {
        return String::new();
    };
    let values: Vec<String> = arguments
        .values()
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect();
    let line = agentd_domain::cut_line(&values.join(", "), MAX_ARGUMENT);
    // A heading in code marks must not end them itself.
    if line.is_empty() || line.contains('`') { line } else { format!("`{line}`") }
}

/// One line as it is, several in a fence that the text cannot close.
fn block(output: &str) -> String {
    let output = output.trim_end();
    if output.trim().is_empty() {
        return "(no output)".to_owned();
    }
    if !output.contains('\n') {
        return output.to_owned();
    }
    let longest = output.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{output}\n{fence}")
}

/// Says what works without a model, and how to get one.
pub(super) fn help(tools: &[ToolSpec], config_path: &str) -> String {
    const EXAMPLES: &[(&str, &str)] = &[
        ("calculator", "arithmetic: `what is 12*(3+4)?`"),
        ("time", "the time: `what time is it in Tokyo?`"),
        ("text_length", "counting characters: `how long is 'text'?`"),
        ("list_dir", "listing a directory: `list files in src`"),
        ("read_file", "reading a file: `read README.md`"),
    ];
    let mut help = format!(
        "{LABEL} No model is configured, so I can only carry out plain requests with the tools here.\n"
    );
    let is_there = |name: &str| tools.iter().any(|tool| tool.name == name);
    let examples = EXAMPLES.iter().filter(|(name, _)| is_there(name));
    for (at, (_, example)) in examples.enumerate() {
        help.push_str(if at == 0 { "\nWhat I understand:\n\n- " } else { "\n- " });
        help.push_str(example);
    }
    help.push_str("\n\nTo talk to a model, do one of these:\n\n");
    if !config_path.is_empty() {
        help.push_str("- set `base_url` and `model` under `[provider]` in `");
        help.push_str(config_path);
        help.push_str("`, then run `agentctl reload`\n");
    }
    // A running daemon keeps its environment: reading the configuration again is not enough.
    help.push_str(
        "- in a terminal, export `OPENAI_API_KEY` (with `OPENAI_BASE_URL` and `OPENAI_MODEL` for other \
         services), `DEEPSEEK_API_KEY`, `ANTHROPIC_API_KEY` or `OPENROUTER_API_KEY`, then run \
         `agentctl shutdown` and `agentctl chat` there\n\
         - run a local server, then `agentctl reload`: `ollama serve` (port 11434) or llama.cpp's \
         `llama-server` (port 8080) is found by itself\n",
    );
    help
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_several_lines_is_fenced_and_cannot_leave_the_fence() {
        let check = |output: &str, expect: &str| assert_eq!(block(output), expect);
        check("84", "84");
        check("84\n", "84");
        check(" \n", "(no output)");
        check("a\nb\n", "```\na\nb\n```");
        check("a\n```\nb", "````\na\n```\nb\n````");
    }

    #[test]
    fn each_way_to_a_model_says_what_makes_the_running_daemon_take_it() {
        let help = help(&[], "/c/config.toml");
        let way = |what: &str| help.lines().find(|line| line.contains(what)).unwrap();
        assert!(way("/c/config.toml").contains("`agentctl reload`"));
        let keys = way("OPENAI_API_KEY");
        // Its environment does not change while it runs.
        assert!(keys.contains("`agentctl shutdown`") && !keys.contains("reload"), "{keys}");
        for other in ["DEEPSEEK_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"] {
            assert!(keys.contains(other), "{keys}");
        }
        assert!(way("ollama serve").contains("`agentctl reload`"));
    }

    #[test]
    fn arguments_are_summed_up_in_one_line() {
        let check = |json: &str, expect: &str| assert_eq!(summary(json), expect);
        check(r#"{"expression":"1+1"}"#, "`1+1`");
        check("{}", "");
        check(r#"{"text":"a\nb","max":3}"#, "`3, a b`");
        check("not json", "");
    }
}
