//! One spelling for the many names of a model.

/// The name without what says nothing about the model: the provider's prefix, the tag, the date.
///
/// `openrouter/anthropic/claude-sonnet-4.5:beta` and `claude-sonnet-4-5-20250929` are one model.
pub(super) fn normalised(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = without_date(name.strip_suffix(".gguf").unwrap_or(name));
    let name = name.strip_suffix("-latest").unwrap_or(name);
    // Anthropic writes versions with a dash, others write them with a dot.
    if name.starts_with("claude-") { name.replace('.', "-") } else { name.to_owned() }
}

/// Cuts `-20250929` and `-2025-04-14` off the end.
fn without_date(name: &str) -> &str {
    let is_number = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Some((rest, last)) = name.rsplit_once('-') else { return name };
    if is_number(last, 8) {
        return rest;
    }
    let dashed = rest.rsplit_once('-').and_then(|(rest, month)| {
        let (rest, year) = rest.rsplit_once('-')?;
        (is_number(last, 2) && is_number(month, 2) && is_number(year, 4)).then_some(rest)
    });
    dashed.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_spellings_are_one_name() {
        let check = |name: &str, expect: &str| assert_eq!(normalised(name), expect, "{name}");
        check("claude-sonnet-4-5-20250929", "claude-sonnet-4-5");
        check("openrouter/anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5");
        check("gpt-4.1-2025-04-14", "gpt-4.1");
        check(" OpenAI/GPT-4o ", "gpt-4o");
        check("chatgpt-4o-latest", "chatgpt-4o");
        check("llama3.1:8b", "llama3.1");
        check("claude-opus-4-1@20250805", "claude-opus-4-1");
        check("Qwen2.5-7B-Instruct-Q4_K_M.gguf", "qwen2.5-7b-instruct-q4_k_m");
        check("o3", "o3");
        check("", "");
        check("-20250929", "");
    }
}
