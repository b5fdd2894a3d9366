//! How well texts are found, on public sets of documents, questions and answers.
//!
//! `cargo bench -p agentd-search -- DIR [OUT] [vectors=VECTORS]`: DIR holds a folder per set with `docs.jsonl` (id, text,
//! scope, meta) and `queries.dev.jsonl` (id, text, gold, scope). Prints nDCG@10, recall@10 and the time of
//! a question; with OUT the ranked ids are written there, a line per question, for other scorers.
//!
//! VECTORS holds what a model makes of a set: `SET.docs.f32`, `SET.queries.f32` and `SET.probe.f32` (of
//! the sentences of `agentd_search::probe_documents`, then `probe_queries`), each the vectors of the texts
//! in their order, of length 1, as little-endian numbers of 32 bits. Sets that are there are ranked by
//! words and vectors together, too.
//!
//! A set whose `meta` tells sessions and speakers is measured a second time as the turns that it consists
//! of, and a third time without pairs of words, as chats are searched.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark prints times")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agentd_search::{
    ChatTurn, Document, Fusion, Index, Question, Scales, names, probe_documents, with_neighbours,
};
use serde_json::Value;

/// Ranked ids that are written.
const WRITTEN: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Cargo adds `--bench`.
    let (named, plain): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .partition(|argument| argument.starts_with("vectors="));
    let vectors = named.first().and_then(|it| it.strip_prefix("vectors=")).map(PathBuf::from);
    let mut arguments = plain.into_iter();
    let Some(dir) = arguments.next().map(PathBuf::from) else {
        println!(
            "retrieval: no folder of sets is given; \
             `cargo bench -p agentd-search -- DIR [OUT] [vectors=VECTORS]`"
        );
        return Ok(());
    };
    let out = arguments.next().map(PathBuf::from);
    println!(
        "{:14} {:>7} {:>9} {:>8} {:>8} {:>9} {:>15} {:>8}",
        "set", "texts", "questions", "nDCG@10", "R@10", "p50", "hybrid nDCG@10", "R@10"
    );
    let mut sets: Vec<PathBuf> =
        std::fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    sets.sort();
    for set in sets.iter().filter(|set| set.join("docs.jsonl").is_file()) {
        measure(set, out.as_deref(), vectors.as_deref())?;
    }
    Ok(())
}

fn measure(
    set: &Path,
    out: Option<&Path>,
    vectors: Option<&Path>,
) -> Result<(), Box<dyn std::error::Error>> {
    let name = set.file_name().unwrap_or_default().to_string_lossy();
    let docs = lines(&set.join("docs.jsonl"))?;
    let index = filled(Index::default(), &docs);
    let by_scope = by_scope(&docs);
    let queries = lines(&set.join("queries.dev.jsonl"))?;
    let (mut gain, mut recall, mut times) = (0.0, 0.0, Vec::new());
    let (mut hybrid_gain, mut hybrid_recall) = (0.0, 0.0);
    let hybrid = match vectors {
        Some(vectors) => Hybrid::read(vectors, &name, docs.len(), queries.len())?,
        None => None,
    };
    let mut written = out.map(|out| create(out, &name)).transpose()?;
    for (number, query) in queries.iter().enumerate() {
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
        let mut ranked = ranked;
        if let (Some(hybrid), Some(scope)) = (&hybrid, scope) {
            let text = query["text"].as_str().unwrap_or_default();
            let found = hybrid.rank(&index, Question(&turns), (number, text), scope);
            ranked = found
                .into_iter()
                .take(WRITTEN)
                .filter_map(|key| docs.get(key)?["id"].as_str())
                .collect();
            let (query_gain, query_recall) = score(query, &ranked);
            hybrid_gain += query_gain;
            hybrid_recall += query_recall;
        }
        if let Some(file) = &mut written {
            writeln!(file, "{}", serde_json::json!({ "id": query["id"], "docs": ranked }))?;
        }
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let all = f64::from(u32::try_from(queries.len().max(1))?);
    print!(
        "{name:14} {:>7} {:>9} {:>8.4} {:>8.4} {:>6.2} ms",
        docs.len(),
        queries.len(),
        gain / all,
        recall / all,
        median.as_secs_f64() * 1000.0
    );
    if hybrid.is_some() {
        print!(" {:>15.4} {:>8.4}", hybrid_gain / all, hybrid_recall / all);
    }
    println!();
    if let Some(sessions) = Sessions::of(&docs) {
        sessions.measure(&filled(Index::default(), &docs), &docs, &queries, "  turns")?;
        sessions.measure(&filled(Index::without_pairs(), &docs), &docs, &queries, "  no pairs")?;
    }
    Ok(())
}

fn filled(mut index: Index<usize>, docs: &[Value]) -> Index<usize> {
    for (key, doc) in docs.iter().enumerate() {
        let meta = &doc["meta"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (body, caption) = (text(&doc["text"]), text(&meta["image_caption"]));
        let speaker = text(&meta["speaker"]);
        let date = in_words(meta["time"].as_str().unwrap_or_default());
        let parts = &[body.as_str(), caption.as_str()];
        index.insert(key, Document { parts, labels: &[&speaker], date: &date });
    }
    index
}

fn by_scope(docs: &[Value]) -> BTreeMap<&str, HashSet<usize>> {
    let mut by_scope: BTreeMap<&str, HashSet<usize>> = BTreeMap::new();
    for (key, doc) in docs.iter().enumerate() {
        by_scope.entry(doc["scope"].as_str().unwrap_or_default()).or_default().insert(key);
    }
    by_scope
}

/// The turns of each session in their order, where a set tells who said them.
struct Sessions<'a> {
    turns: Vec<Vec<usize>>,
    speakers: Vec<&'a str>,
}

impl<'a> Sessions<'a> {
    fn of(docs: &'a [Value]) -> Option<Self> {
        let mut turns: BTreeMap<(&str, u64), Vec<usize>> = BTreeMap::new();
        let mut speakers = Vec::new();
        for (key, doc) in docs.iter().enumerate() {
            let scope = doc.get("scope")?.as_str()?;
            let session = doc.pointer("/meta/session")?.as_u64()?;
            speakers.push(doc.pointer("/meta/speaker")?.as_str()?);
            turns.entry((scope, session)).or_default().push(key);
        }
        Some(Self { turns: turns.into_values().collect(), speakers })
    }

    fn measure(
        &self,
        index: &Index<usize>,
        docs: &[Value],
        queries: &[Value],
        name: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let by_scope = by_scope(docs);
        let (mut gain, mut recall, mut times) = (0.0, 0.0, Vec::new());
        for query in queries {
            let text = query["text"].as_str().unwrap_or_default();
            let Some(scope) = by_scope.get(query["scope"].as_str().unwrap_or_default()) else {
                continue;
            };
            let begin = Instant::now();
            let found = self.search(index, text, scope);
            times.push(begin.elapsed());
            let ranked: Vec<&str> =
                found.iter().filter_map(|key| docs.get(*key)?["id"].as_str()).collect();
            let (query_gain, query_recall) = score(query, &ranked);
            gain += query_gain;
            recall += query_recall;
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

    /// The best keys, with what their neighbours give them.
    fn search(&self, index: &Index<usize>, text: &str, wanted: &HashSet<usize>) -> Vec<usize> {
        let mut scores: HashMap<usize, f32> = HashMap::new();
        let question = Question(&[(1.0, text)]);
        let is_wanted = |key| wanted.contains(&key);
        index.score(question, is_wanted, |hit| {
            scores.insert(hit.key, hit.score);
        });
        let mut named: HashMap<&str, bool> = HashMap::new();
        let mut ranked: Vec<(usize, f32)> = Vec::new();
        for turns in &self.turns {
            let given = turns.iter().map(|key| {
                let name = self.speakers.get(*key).copied().unwrap_or_default();
                let is_named = *named.entry(name).or_insert_with(|| names(text, name));
                ChatTurn { score: scores.get(key).copied().unwrap_or(0.0), is_named }
            });
            let given: Vec<ChatTurn> = given.collect();
            ranked.extend(turns.iter().copied().zip(with_neighbours(&given)));
        }
        ranked.retain(|(_key, score)| *score > 0.0);
        ranked.sort_by(|(x, a), (y, b)| b.total_cmp(a).then(x.cmp(y)));
        ranked.into_iter().take(WRITTEN).map(|(key, _score)| key).collect()
    }
}

/// What a model makes of a set.
struct Hybrid {
    docs: Vec<Vec<f32>>,
    queries: Vec<Vec<f32>>,
    scales: Scales,
}

impl Hybrid {
    /// None when there is nothing about the set.
    fn read(
        dir: &Path,
        name: &str,
        docs: usize,
        queries: usize,
    ) -> Result<Option<Self>, Box<dyn std::error::Error>> {
        let file = |what: &str| dir.join(format!("{name}.{what}.f32"));
        if !file("docs").is_file() {
            return Ok(None);
        }
        let sentences = probe_documents().len();
        let probe = floats(&file("probe"), 2 * sentences)?;
        let (probe_docs, probe_queries) = probe.split_at(sentences);
        let scales = Scales::measured(probe_docs, probe_queries).ok_or("too few probes")?;
        let (docs, queries) = (floats(&file("docs"), docs)?, floats(&file("queries"), queries)?);
        Ok(Some(Self { docs, queries, scales }))
    }

    /// Texts by words and vectors together, the best first.
    fn rank(
        &self,
        index: &Index<usize>,
        question: Question<'_>,
        (number, text): (usize, &str),
        scope: &HashSet<usize>,
    ) -> Vec<usize> {
        let mut words = vec![0.0_f32; self.docs.len()];
        index.score(
            question,
            |key| scope.contains(&key),
            |hit| {
                if let Some(score) = words.get_mut(hit.key) {
                    *score = hit.score;
                }
            },
        );
        let most = words.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let query = self.queries.get(number).map(Vec::as_slice).unwrap_or_default();
        let cosine = |key: usize| -> f32 {
            let doc = self.docs.get(key).map(Vec::as_slice).unwrap_or_default();
            doc.iter().zip(query).map(|(x, y)| x * y).sum()
        };
        let cosines: HashMap<usize, f32> = scope.iter().map(|key| (*key, cosine(*key))).collect();
        let nearest = cosines.values().copied().fold(-1.0, f32::max);
        let scale = self.scales.of(text);
        let fusion = scale.map(|it| Fusion::new(index.usual_length(), it, nearest));
        let mut found: Vec<(f32, usize)> = scope
            .iter()
            .map(|key| {
                let words = words.get(*key).copied().unwrap_or(0.0) / most;
                let cosine = cosines.get(key).copied();
                (fusion.map_or(words, |fusion| fusion.score(words, cosine)), *key)
            })
            .filter(|(score, _key)| *score > 0.0)
            .collect();
        found.sort_unstable_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
        found.into_iter().map(|(_score, key)| key).collect()
    }
}

/// So many vectors of equal length.
fn floats(path: &Path, count: usize) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let numbers: Vec<f32> = bytes
        .chunks_exact(4)
        .filter_map(|four| four.try_into().ok().map(f32::from_le_bytes))
        .collect();
    let length = numbers.len() / count.max(1);
    if length == 0 || numbers.len() != length * count {
        return Err(format!("{}: these are not {count} vectors", path.display()).into());
    }
    Ok(numbers.chunks_exact(length).map(<[f32]>::to_vec).collect())
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
