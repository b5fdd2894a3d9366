//! What the user says, by day.

/// Rules that hold for ever: the first are pinned, the rest are used each week.
pub(crate) const RULES: [&str; 6] = [
    "Never push to the main branch",
    "Always run the linter before a commit",
    "回答时一律使用简体中文",
    "Write tests before the code",
    "Ask before deleting any file",
    "发布之前必须更新版本号",
];
/// How many of them are pinned.
pub(crate) const PINNED: usize = 3;

/// Preferences that come up each week.
pub(crate) const USED: [&str; 4] = [
    "Prefers tabs over spaces in source files",
    "Likes short answers without greetings",
    "喜欢用深色主题写代码",
    "Wants commit messages in the imperative mood",
];

/// Preferences that never come up again.
pub(crate) const UNUSED: [&str; 6] = [
    "Prefers espresso over filter coffee",
    "Likes to sit near the window on trains",
    "Would rather read books than watch films",
    "喜欢周末去爬山",
    "Prefers jazz while cooking dinner",
    "Wants hotel rooms on high floors",
];

/// Services whose port moves.
pub(crate) const MOVED: [&str; 3] = ["anvil", "falcon", "harbor"];

/// Facts that are told once, and half of them used now and then.
pub(crate) const FACTS: [&str; 24] = [
    "Granite is owned by the payments team under Olga",
    "Backups of cedar are written to tape every Sunday",
    "The lease of the Lisbon office ends in October",
    "数据库部署在北京机房",
    "Invoices are approved by Rahim in accounting",
    "The mobile app is built with Flutter",
    "Grandmother's birthday is on the fourth of May",
    "每周三下午有项目例会",
    "The parking garage closes at eleven at night",
    "Kubernetes upgrades are frozen during audits",
    "Tokens for the staging registry expire monthly",
    "The espresso machine is serviced by Bruno",
    "Marta leads the search relevance squad",
    "公司的内部邮箱由小李管理",
    "Legacy exports use semicolons as separators",
    "The warehouse in Ghent has two loading docks",
    "Customer refunds go through the Helix console",
    "Incident reviews happen on Thursday mornings",
    "The design system lives in a Figma library",
    "测试服务器的磁盘容量是两个太字节",
    "Translations come from an agency in Porto",
    "Feature flags are stored in the Orchid service",
    "The garden fence was painted green by Tomas",
    "Shuttle buses leave every twenty minutes",
];

/// The same again, with more: what is added, by the fact.
pub(crate) const MORE: [(usize, &str); 6] = [
    (0, "Granite is owned by the payments team under Olga since spring"),
    (1, "Backups of cedar are written to tape every Sunday night"),
    (4, "Invoices are approved by Rahim in accounting before payday"),
    (12, "Marta leads the search relevance squad in Berlin"),
    (15, "The warehouse in Ghent has two loading docks for trucks"),
    (20, "Translations come from an agency in Porto called Lingua"),
];

/// Where the user is for a week.
pub(crate) const CITIES: [&str; 6] = ["Oslo", "Quito", "Osaka", "Tallinn", "Perth", "Bergen"];

/// What is spoken of once.
pub(crate) const CHATTER: [&str; 9] = [
    "weather",
    "football",
    "traffic",
    "lunch",
    "holidays",
    "elections",
    "gardening",
    "movies",
    "chess",
];

/// What a model finds in a conversation, as it answers.
pub(crate) fn found(content: &str, category: &str, expires_at: Option<i64>) -> String {
    let mut item = serde_json::json!({"content": content, "category": category, "importance": 3});
    if let Some(at) = expires_at {
        item["expires_at"] = at.to_string().into();
    }
    format!("Here is what I found:\n```json\n[{item}]\n```")
}
