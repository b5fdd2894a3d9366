//! Which tools fit a query, by the words of their descriptions.

use std::collections::BTreeSet;

use agentd_domain::ToolSpec;

/// Parameters of Okapi BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009),
/// at their usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How many times a word of the name counts.
const NAME_WEIGHT: usize = 3;

/// Letters from which on a word also fits another that begins with it, as `hash` fits `hashes`.
const PREFIX_LETTERS: usize = 4;

/// Words that say nothing of what a tool does.
const EMPTY_WORDS: [&str; 13] =
    ["a", "an", "and", "for", "from", "in", "is", "it", "of", "or", "the", "to", "with"];

/// The tools that fit, best first; equal ones by name. The same query gives the same order.
pub(super) fn best<'a>(tools: &'a [ToolSpec], query: &str, limit: usize) -> Vec<&'a ToolSpec> {
    let query: BTreeSet<String> = words(query).collect();
    let documents: Vec<Vec<String>> = tools.iter().map(document).collect();
    let total: usize = documents.iter().map(Vec::len).sum();
    let average = float(total) / float(documents.len().max(1));
    let mut scored: Vec<(f64, &ToolSpec)> = tools
        .iter()
        .zip(&documents)
        .map(|(tool, document)| {
            let score = query.iter().map(|word| {
                let count = float(document.iter().filter(|other| fits(word, other)).count());
                let length = float(document.len()) / average;
                rarity(word, &documents) * count * (K1 + 1.0)
                    / (count + K1 * (1.0 - B + B * length))
            });
            (score.sum(), tool)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    scored.sort_by(|(score, tool), (other_score, other)| {
        other_score.total_cmp(score).then_with(|| tool.name.cmp(&other.name))
    });
    scored.into_iter().take(limit).map(|(_, tool)| tool).collect()
}

/// The words that stand for a tool: its name, its description, and the names of its arguments.
fn document(tool: &ToolSpec) -> Vec<String> {
    let arguments = tool.parameters.get("properties").and_then(|fields| fields.as_object());
    let arguments = arguments.into_iter().flatten().map(|(name, _)| name.as_str());
    let name = std::iter::repeat_n(tool.name.as_str(), NAME_WEIGHT);
    name.chain([tool.description.as_str()]).chain(arguments).flat_map(words).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
}

fn fits(word: &str, other: &str) -> bool {
    let (short, long) = if word.len() < other.len() { (word, other) } else { (other, word) };
    short == long || (short.chars().count() >= PREFIX_LETTERS && long.starts_with(short))
}

/// The inverse document frequency, in the form that is never negative.
fn rarity(word: &str, documents: &[Vec<String>]) -> f64 {
    let with = documents.iter().filter(|document| document.iter().any(|other| fits(word, other)));
    let with = float(with.count());
    ((float(documents.len()) - with + 0.5) / (with + 0.5)).ln_1p()
}

fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use agentd_domain::Capabilities;
    use serde_json::json;

    use super::*;

    fn spec(name: &str, description: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({"properties": {"timezone": {}}}),
            capabilities: Capabilities::PURE,
        }
    }

    #[test]
    fn what_fits_best_comes_first_and_what_fits_not_is_left_out() {
        let tools = [
            spec("hash_file", "Makes a check sum of a file."),
            spec("lunar_date", "Converts dates between the solar and the lunar calendar."),
            spec("weather", "Tells the weather of a place for some days."),
            spec("list_archive", "Lists what a zip or tar file holds."),
        ];
        let check = |query: &str, expect: &[&str]| {
            let found: Vec<_> =
                best(&tools, query, 2).into_iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(found, expect, "{query}");
        };
        check("weather", &["weather"]);
        check("weather_forecast", &["weather"]);
        check("check sum of a file, hashes", &["hash_file", "list_archive"]);
        check("Lunar Calendar", &["lunar_date"]);
        check("archives", &["list_archive"]);
        check("timezone", &["weather", "hash_file"]);
        check("of the", &[]);
        check("nothing like it: zebra", &[]);
        check("", &[]);
        assert!(best(&[], "weather", 2).is_empty());
    }
}
