//! How well texts are found, on public sets of documents, questions and answers.
//!
//! `cargo bench -p agentd-search -- DIR [OUT]`: DIR holds a folder per set with `docs.jsonl` (id, text,
//! scope, meta) and `queries.dev.jsonl` (id, text, gold, scope). Prints nDCG@10, recall@10 and the time of
//! a question; with OUT the ranked ids are written there, a line per question, for other scorers.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark prints times")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agentd_search::{Document, Index, Question};
use serde_json::Value;

/// Ranked ids that are written.
const WRITTEN: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let Some(dir) = arguments.next().map(PathBuf::from) else {
        println!(
            "retrieval: no folder of sets is given; `cargo bench -p agentd-search -- DIR [OUT]`"
        );
        return Ok(());
    };
    let out = arguments.next().map(PathBuf::from);
    println!(
        "{:14} {:>7} {:>9} {:>8} {:>8} {:>9}",
        "set", "texts", "questions", "nDCG@10", "R@10", "p50"
    );
    let mut sets: Vec<PathBuf> =
        std::fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sets.sort();
    for set in sets.iter().filter(|set| set.join("docs.jsonl").is_file()) {
        measure(set, out.as_deref())?;
    }
    Ok(())
}

fn measure(set: &Path, out: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let name = set.file_name().unwrap_or_default().to_string_lossy();
    let docs = lines(&set.join("docs.jsonl"))?;
    let mut index = Index::default();
    for (key, doc) in docs.iter().enumerate() {
        let meta = &doc["meta"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (body, caption) = (text(&doc["text"]), text(&meta["image_caption"]));
        let speaker = text(&meta["speaker"]);
        let date = in_words(meta["time"].as_str().unwrap_or_default());
        let parts = &[body.as_str(), caption.as_str()];
        index.insert(key, Document { parts, labels: &[&speaker], date: &date });
    }
    let mut by_scope: BTreeMap<&str, HashSet<usize>> = BTreeMap::new();
    for (key, doc) in docs.iter().enumerate() {
        by_scope.entry(doc["scope"].as_str().unwrap_or_default()).or_default().insert(key);
    }
    let queries = lines(&set.join("queries.dev.jsonl"))?;
    let (mut gain, mut recall, mut times) = (0.0, 0.0, Vec::new());
    let mut written = out.map(|out| create(out, &name)).transpose()?;
    for query in &queries {
        let turns = turns(query["text"].as_str().unwrap_or_default());
        let turns: Vec<(f32, &str)> = turns.iter().map(|(w, text)| (*w, text.as_str())).collect();
        let scope = by_scope.get(query["scope"].as_str().unwrap_or_default());
        let begin = Instant::now();
        let hits = index.search(
            Question(&turns),
            |key| scope.is_some_and(|it| it.contains(&key)),
            WRITTEN,
        );
        times.push(begin.elapsed());
        let ranked: Vec<&str> =
            hits.iter().take(WRITTEN).filter_map(|hit| docs.get(hit.key)?["id"].as_str()).collect();
        let (query_gain, query_recall) = score(query, &ranked);
        gain += query_gain;
        recall += query_recall;
        if let Some(file) = &mut written {
            writeln!(file, "{}", serde_json::json!({ "id": query["id"], "docs": ranked }))?;
        }
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let all = f64::from(u32::try_from(queries.len().max(1))?);
    println!(
        "{name:14} {:>7} {:>9} {:>8.4} {:>8.4} {:>6.2} ms",
        docs.len(),
        queries.len(),
        gain / all,
        recall / all,
        median.as_secs_f64() * 1000.0
    );
    Ok(())
}

fn create(out: &Path, name: &str) -> std::io::Result<std::io::BufWriter<std::fs::File>> {
    std::fs::create_dir_all(out)?;
    Ok(std::io::BufWriter::new(std::fs::File::create(out.join(format!("{name}.jsonl")))?))
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// "2023-05-08T13:56" as "8 may 2023".
fn in_words(time: &str) -> String {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let mut numbers = time.split(['-', 'T']).map(|part| part.parse::<usize>().unwrap_or(0));
    let (Some(year), Some(month), Some(day)) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return String::new();
    };
    let name = month.checked_sub(1).and_then(|month| MONTHS.get(month));
    name.map(|name| format!("{day} {name} {year}")).unwrap_or_default()
}

/// The turns of a dialogue `<Name>:"text"`; those of an assistant count a quarter. Else one turn.
fn turns(text: &str) -> Vec<(f32, String)> {
    let turns = text.lines().filter_map(|line| {
        let (name, said) = line.strip_prefix('<')?.split_once('>')?;
        let said = said.trim_start_matches([':', '：', ' ']).trim_matches('"');
        let is_assistant = ["assistant", "助手"].contains(&name.to_lowercase().as_str());
        Some((if is_assistant { 0.25 } else { 1.0 }, said.to_owned()))
    });
    let turns: Vec<_> = turns.collect();
    if turns.is_empty() { vec![(1.0, text.to_owned())] } else { turns }
}

/// nDCG@10 and recall@10.
fn score(query: &Value, ranked: &[&str]) -> (f64, f64) {
    let gold: Vec<&str> =
        query["gold"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let grades: HashMap<&str, f64> = match query["grades"].as_object() {
        Some(grades) => {
            grades.iter().map(|(id, it)| (id.as_str(), it.as_f64().unwrap_or(0.0))).collect()
        }
        None => gold.iter().map(|id| (*id, 1.0)).collect(),
    };
    let discount =
        |place: usize| 1.0 / (f64::from(u32::try_from(place).unwrap_or(u32::MAX)) + 2.0).log2();
    let top = ranked.iter().take(10);
    let gain: f64 = top
        .clone()
        .enumerate()
        .map(|(place, id)| grades.get(id).copied().unwrap_or(0.0) * discount(place))
        .sum();
    let mut best: Vec<f64> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.total_cmp(a));
    let ideal: f64 = best.iter().take(10).enumerate().map(|(place, it)| it * discount(place)).sum();
    let found = top.filter(|id| gold.contains(id)).count();
    let share = |found: usize, of: usize| {
        f64::from(u32::try_from(found).unwrap_or(0))
            / f64::from(u32::try_from(of.max(1)).unwrap_or(1))
    };
    (if ideal > 0.0 { gain / ideal } else { 0.0 }, share(found, gold.len()))
}
