//! Words that say nothing of what a text is about.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English words without a subject of their own, question words among them. "May" is also a month.
const ENGLISH: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there these \
     they this to was will with what when where who whom whose which why how do does did done doing has \
     have had having he she him her his hers its i me my mine we our ours us you your yours them been \
     being were am from about would could should can might than so also any some all just very too only \
     own same more most other each both few nor again further once here during before after above below \
     up down out off over under between through until while because against";

/// Chinese characters of grammar.
const CHARACTERS: &str = "的了是在和与及或着过们吗呢吧啊呀嘛哦么之其这那哪谁我你他她它您就都也还又而且但被把给让向从到于为以因";

/// Chinese words of grammar and of questions.
const CHINESE: &str = "什么 哪些 哪个 哪里 哪儿 哪 谁 怎么 怎样 如何 为什么 为何 多少 几 什么样 何时 何 是 的 了 在 和 与 及 或 吗 呢 吧 啊 我 你 \
     他 她 它 我们 你们 他们 这 那 这个 那个 就 都 也 还 有 被 把 请问 是否 以及 哪位 哪年 哪种";

static ENGLISH_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| ENGLISH.split_whitespace().collect());
static CHARACTER_SET: LazyLock<HashSet<char>> = LazyLock::new(|| CHARACTERS.chars().collect());
static CHINESE_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| CHINESE.split_whitespace().collect());

pub(super) fn is_english(word: &str) -> bool {
    ENGLISH_SET.contains(word)
}

pub(super) fn is_character(c: char) -> bool {
    CHARACTER_SET.contains(&c)
}

pub(super) fn is_chinese(word: &str) -> bool {
    CHINESE_SET.contains(word)
}
