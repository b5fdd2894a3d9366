//! What a model of vectors is good for, found out by asking it.
//!
//! A few sentences, each said in two ways, in two scripts. A model reads a script when it finds the other
//! way of most of them; where it does not, its cosines say nothing, and words decide alone. The sentences
//! have nothing to do with each other, so that they also tell what a cosine means: texts that have nothing
//! in common are at 0.05 with one model, and at 0.83 with another.

use crate::words;

/// What may be found, and what it is looked for with. Of the Chinese ones no two have a word in common,
/// so that a model that knows single characters does not pass for one that reads.
const LATIN: [(&str, &str); 8] = [
    ("I drink coffee every morning.", "Every morning begins with a cup of coffee."),
    ("The database crashed last night.", "Last night our database went down."),
    ("My daughter plays the violin.", "The violin is what my daughter plays."),
    ("The train to Berlin was late.", "The Berlin train arrived late again."),
    ("We repaired the roof after the storm.", "After the storm the roof had to be repaired."),
    ("The cat sleeps on the sofa.", "On our sofa a cat is asleep."),
    ("Taxes are due at the end of May.", "By the end of May all taxes must be paid."),
    ("He is allergic to peanuts.", "Peanuts make him ill because he is allergic."),
];
const HAN: [(&str, &str); 8] = [
    ("我每天早上喝咖啡。", "她起床后先来一杯拿铁。"),
    ("数据库昨晚崩溃了。", "存储服务器昨天夜里宕机。"),
    ("我女儿会拉小提琴。", "他的孩子在学一种弦乐器。"),
    ("去柏林的火车晚点了。", "那趟列车没有按时到站。"),
    ("暴风雨过后我们修好了屋顶。", "大风停了，他们把房子上面补好。"),
    ("猫在沙发上睡觉。", "小猫躺在长椅上打盹。"),
    ("税款五月底到期。", "必须在春末之前向国家缴费。"),
    ("他对花生过敏。", "吃坚果会让这个人生病。"),
];
/// Sentences of a script whose other way has to be found. By chance it is one.
const FOUND: usize = 6;

/// The sentences as documents, in order.
pub fn probe_documents() -> Vec<String> {
    LATIN.iter().chain(&HAN).map(|(document, _)| (*document).to_owned()).collect()
}

/// The same said another way, as questions.
pub fn probe_queries() -> Vec<String> {
    LATIN.iter().chain(&HAN).map(|(_, query)| (*query).to_owned()).collect()
}

/// What a model's cosines mean in a script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The mean between texts that have nothing to do with each other.
    pub unrelated: f32,
    /// The standard deviation of these.
    pub deviation: f32,
    /// The mean between two ways to say the same.
    pub same: f32,
}

/// What a model is good for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    latin: Option<Scale>,
    han: Option<Scale>,
}

impl Scales {
    /// What follows from the vectors of [`probe_documents`] and [`probe_queries`]; none when these are not
    /// as many.
    pub fn measured(documents: &[Vec<f32>], queries: &[Vec<f32>]) -> Option<Self> {
        let (latin_documents, han_documents) = documents.split_at_checked(LATIN.len())?;
        let (latin_queries, han_queries) = queries.split_at_checked(LATIN.len())?;
        if (han_documents.len(), han_queries.len()) != (HAN.len(), HAN.len()) {
            return None;
        }
        let latin = scale(latin_documents, latin_queries);
        Some(Self { latin, han: scale(han_documents, han_queries) })
    }

    /// The scale for a question in the script of this text; none when the model does not read it.
    pub fn of(&self, text: &str) -> Option<Scale> {
        if words::is_mostly_han(text) { self.han } else { self.latin }
    }

    /// True when the model reads no script that it was asked about.
    pub fn is_useless(&self) -> bool {
        self.latin.is_none() && self.han.is_none()
    }
}

/// The scale of a script, if the model reads it.
fn scale(documents: &[Vec<f32>], queries: &[Vec<f32>]) -> Option<Scale> {
    let mut found = 0;
    let mut apart = Vec::new();
    let mut same = 0.0;
    for (at, query) in queries.iter().enumerate() {
        let cosines: Vec<f32> = documents.iter().map(|document| dot(document, query)).collect();
        let own = *cosines.get(at)?;
        let others = || cosines.iter().enumerate().filter(|(other, _)| *other != at);
        found += usize::from(others().all(|(_, cosine)| own > *cosine));
        same += own;
        apart.extend(others().map(|(_, cosine)| *cosine));
    }
    if found < FOUND {
        return None;
    }
    let mean = |sum: f32, count: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a few dozens")]
        let count = count as f32;
        sum / count
    };
    let unrelated = mean(apart.iter().sum(), apart.len());
    let squares = apart.iter().map(|cosine| (cosine - unrelated).powi(2)).sum();
    let deviation = mean(squares, apart.len()).sqrt();
    Some(Scale { unrelated, deviation, same: mean(same, queries.len()) })
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors by a function of the number of the pair, and of whether it is the question.
    fn vectors(of: impl Fn(usize, bool) -> [f32; 20]) -> Option<Scales> {
        let all = |is_query: bool| -> Vec<Vec<f32>> {
            (0..16).map(|n| of(n, is_query).to_vec()).collect()
        };
        Scales::measured(&all(false), &all(true))
    }

    fn one(at: usize) -> [f32; 20] {
        let mut vector = [0.0; 20];
        vector[at] = 1.0;
        vector
    }

    #[test]
    fn a_model_reads_the_scripts_whose_sentences_it_finds() {
        let all = vectors(|n, _| one(n)).unwrap();
        let scale = Scale { unrelated: 0.0, deviation: 0.0, same: 1.0 };
        assert_eq!(all.of("what is this?"), Some(scale));
        assert_eq!(all.of("这是什么？"), Some(scale));
        // All Chinese sentences are the same to it.
        let latin = vectors(|n, _| one(n.min(8))).unwrap();
        assert!(latin.of("what is this?").is_some() && !latin.is_useless());
        assert_eq!(latin.of("这是什么？"), None);
        assert_eq!(latin.of("数据库 port"), None, "it is mostly Chinese");
        assert!(latin.of("the port of the database 库").is_some());
        let shifted = vectors(|n, is_query| one(n + usize::from(is_query))).unwrap();
        assert!(shifted.is_useless());
    }

    #[test]
    fn what_cosines_mean_is_measured_between_sentences_and_their_other_ways() {
        // All have half of their length in common.
        let half = 0.5_f32.sqrt();
        let scales = vectors(|n, _| {
            let mut vector = one(n).map(|it| it * half);
            vector[19] = half;
            vector
        });
        let Scale { unrelated, deviation, same } = scales.unwrap().of("word").unwrap();
        assert!((unrelated - 0.5).abs() < 1e-3 && deviation < 1e-3, "{unrelated} {deviation}");
        assert!((same - 1.0).abs() < 1e-3, "{same}");
    }

    #[test]
    fn as_many_vectors_as_sentences_are_needed() {
        let few = vec![vec![1.0]; 15];
        assert_eq!(Scales::measured(&few, &few), None);
        assert_eq!(Scales::measured(&[], &[]), None);
        assert_eq!((probe_documents().len(), probe_queries().len()), (16, 16));
    }

    #[test]
    fn chinese_sentences_have_no_words_in_common_with_their_other_way() {
        for (document, query) in HAN {
            let (a, b) = (words::keywords(document), words::keywords(query));
            assert!(a.is_disjoint(&b), "{document} {query}");
        }
    }
}
