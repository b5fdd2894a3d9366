//! The engine without a model.

use agentd_domain::ToolCall;
use agentd_llm::{Message, Offline, OfflineOptions, Provider as _, Request};

use crate::support::{ask, complete, tool};

fn offline() -> Offline {
    Offline::new(OfflineOptions { config_path: "/home/ann/.config/agentd/config.toml".to_owned() })
}

fn with_tools(text: &str) -> Request {
    let names = ["calculator", "list_dir", "read_file", "text_length", "time"];
    Request { tools: names.map(tool).to_vec(), ..ask(text) }
}

#[tokio::test]
async fn plain_requests_become_tool_calls() {
    for (text, name, arguments) in [
        ("what is 12*(3+4)?", "calculator", r#"{"expression":"12*(3+4)"}"#),
        ("what time is it in Tokyo?", "time", r#"{"timezone":"Asia/Tokyo"}"#),
        ("what time is it?", "time", "{}"),
        ("how long is 'text'?", "text_length", r#"{"text":"text"}"#),
        ("list files in src", "list_dir", r#"{"path":"src"}"#),
        ("读取 README.md", "read_file", r#"{"path":"README.md"}"#),
    ] {
        let answer = complete(&offline(), with_tools(text)).await;
        assert_eq!(answer.calls(), [(name, arguments)], "{text}");
        assert_eq!(answer.text, "", "{text}");
        // The tool is not there: no call.
        let answer = complete(&offline(), ask(text)).await;
        assert!(answer.calls().is_empty(), "{text}");
        assert!(answer.text.starts_with("[offline]"), "{text}");
    }
}

#[tokio::test]
async fn results_are_shown_and_nothing_is_called_again() {
    let mut request = with_tools("list files");
    let call_id: agentd_domain::CallId = "c1".parse().expect("an id");
    request.messages.push(Message::Assistant {
        native: None,
        reasoning: String::new(),
        text: String::new(),
        tool_calls: vec![ToolCall {
            call_id: call_id.clone(),
            name: "list_dir".to_owned(),
            arguments_json: r#"{"path":"."}"#.to_owned(),
        }],
    });
    let output = "a.txt\nb.txt".to_owned();
    request.messages.push(Message::Tool { call_id, name: "list_dir".to_owned(), output });
    let answer = complete(&offline(), request.clone()).await;
    assert_eq!(answer.text, "[offline] list_dir `.`\n\n```\na.txt\nb.txt\n```");
    assert!(answer.calls().is_empty());
    // The next question starts afresh.
    request.messages.push(Message::user("1+1"));
    assert_eq!(complete(&offline(), request).await.calls().len(), 1);
}

#[tokio::test]
async fn everything_else_is_told_how_to_get_a_model() {
    let answer = complete(&offline(), with_tools("write a poem")).await;
    assert!(answer.text.starts_with("[offline] No model is configured"), "{}", answer.text);
    for part in [
        "/home/ann/.config/agentd/config.toml",
        "OPENAI_API_KEY",
        "DEEPSEEK_API_KEY",
        "ollama",
        "what is 12*(3+4)?",
    ] {
        assert!(answer.text.contains(part), "{part} is missing in {}", answer.text);
    }
    assert_eq!(answer.end.expect("an end").usage, None);
    let again = complete(&offline(), with_tools("write a poem")).await;
    assert_eq!(again.text, answer.text);
}

#[tokio::test]
async fn it_has_one_model() {
    assert_eq!(offline().models().await.expect("a list"), ["offline"]);
    assert_eq!((offline().kind(), offline().base_url()), ("offline", ""));
}
