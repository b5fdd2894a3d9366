use super::*;

const NOW_MS: i64 = 1_800_000_000_000;

const SCHEMA: &str = "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, priority INTEGER, \
    importance INTEGER, category TEXT, tags TEXT, content_hash TEXT, embedding BLOB, expires_at TEXT, \
    pinned INTEGER DEFAULT 0, created_at TEXT DEFAULT CURRENT_TIMESTAMP, is_active INTEGER DEFAULT 1);";

fn database(sql: &str) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    connection.serialize("main").unwrap().to_vec()
}

fn reading(with_undated: bool) -> Reading {
    Reading { zone: TimeZone::UTC, now_ms: NOW_MS, with_undated }
}

fn insert(values: &str) -> String {
    format!(
        "{SCHEMA} INSERT INTO memories (id, content, priority, importance, category, tags, expires_at, \
         pinned, created_at, is_active) VALUES {values};"
    )
}

#[test]
fn a_row_is_a_line_whatever_way_its_tags_and_times_are_written() {
    let uuid = "0b0e2f6c-5e3f-4a53-9a43-2f1d0a8d7a11";
    let file = database(&insert(&format!(
        "('{uuid}', 'likes tea', 1, 5, 'preference', 'drinks, home', NULL, 1, '2026-01-31 09:00:00', 1),
         ('b', '喜欢喝茶', 0, 3, 'Hobby', 'a,b', '2099-01-01T00:00:00', 0, '2026-01-31T09:00:00', 1),
         ('c', 'gone', 2, 3, 'fact', NULL, NULL, 0, '2026-01-31 09:00:00', 0)"
    )));
    let found = read(file, &reading(false)).unwrap();
    assert_eq!((found.forgotten, found.left_out), (1, vec![]));
    let lines: Vec<serde_json::Value> =
        found.lines.iter().map(|(_row, line)| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        serde_json::json!({"content": "likes tea", "priority": "high", "importance": 5,
            "category": "preference", "tags": ["drinks", "home"], "pinned": true,
            "created_at_ms": 1_769_850_000_000_i64, "source_id": uuid})
    );
    assert_eq!(lines[1]["tags"], serde_json::json!(["a", "b", "hobby"]));
    assert_eq!(lines[1]["category"], "general");
    assert_eq!(lines[1]["expires_at_ms"], 4_070_908_800_000_i64);
}

#[test]
fn what_cannot_be_read_is_told_with_its_row_and_nothing_is_guessed() {
    let file = database(&insert(
        "('a', 'x', 2, 3, 'fact', '', NULL, 0, 'CURRENT_TIMESTAMP', 1),
         ('b', 'x', 2, 3, 'fact', '', NULL, 0, '2099-01-01 00:00:00', 1),
         ('c', 'x', 7, 3, 'fact', '', NULL, 0, '2026-01-31 09:00:00', 1),
         ('d', 'x', 2, 9, 'fact', '', NULL, 0, '2026-01-31 09:00:00', 1),
         ('e', 'x', 2, 3, 'fact', '', 'tomorrow', 0, '2026-01-31 09:00:00', 1),
         ('f', NULL, 2, 3, 'fact', '', NULL, 0, '2026-01-31 09:00:00', 1)",
    ));
    let found = read(file.clone(), &reading(false)).unwrap();
    assert_eq!(found.lines, []);
    let told: Vec<String> =
        found.left_out.iter().map(|(row, problem)| format!("{row} {problem}")).collect();
    assert_eq!(
        told,
        [
            "1 created_at: 'CURRENT_TIMESTAMP' is not a time such as 2026-01-31 09:00:00",
            "2 created_at: '2099-01-01 00:00:00' is not a time that has passed",
            "3 priority: 7 is not a number from 0 to 3",
            "4 importance: 9 is not a number from 1 to 5",
            "5 expires_at: 'tomorrow' is not a time such as 2026-01-31 09:00:00",
            "6 content: it is no text",
        ]
    );
    let found = read(file, &reading(true)).unwrap();
    assert_eq!((found.lines.len(), found.left_out.len()), (2, 4), "the undated come in when asked");
    assert!(!found.lines[0].1.contains("created_at_ms"), "{found:?}");
}

#[test]
fn what_is_no_database_of_tea_agent_is_refused_and_nothing_of_it_runs() {
    let check = |file: Vec<u8>, why: &str| {
        let problem = read(file, &reading(false)).unwrap_err();
        assert!(problem.contains(why), "{problem}");
    };
    check(database("CREATE TABLE notes (x);"), "no such table: memories");
    check(database("CREATE TABLE memories (text);"), "no column content");
    let view = "CREATE TABLE t (content); CREATE VIEW memories AS SELECT content FROM t;";
    assert!(read(database(view), &reading(false)).is_err());
    let mut damaged = database(&insert("('a', 'x', 2, 3, 'fact', '', NULL, 0, 'x', 1)"));
    damaged.truncate(600);
    assert!(read(damaged, &reading(false)).is_err());
    assert!(read([MAGIC, &[0; 100]].concat(), &reading(false)).is_err());
}
