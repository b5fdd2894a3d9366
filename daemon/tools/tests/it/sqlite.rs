//! Databases, which are read and never changed.

use std::path::Path;

use agentd_domain::{ToolResult, ToolStatus};
use agentd_tools::{CallLimits, run_call};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{Place, assert_refused, context};

const TABLE: &str = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
    CREATE INDEX by_name ON people (name);
    INSERT INTO people VALUES (1, 'Ada', x'010203'), (2, 'Bö\"b', NULL), (3, 'delete', NULL);";

fn database(place: &Place, sql: &str) -> Connection {
    database_in(&place.workspace, sql)
}

fn database_in(directory: &Path, sql: &str) -> Connection {
    let connection = Connection::open(directory.join("a.db")).expect("a database");
    connection.execute_batch(sql).expect("SQL");
    connection
}

async fn query(place: &Place, sql: &str) -> ToolResult {
    place.call("query_sqlite", json!({"path": "a.db", "sql": sql})).await
}

#[tokio::test]
async fn rows_are_given_with_their_columns_and_types() {
    let place = Place::new();
    database(&place, TABLE);
    let check = async |arguments: Value, expect: &str| {
        let mut all = json!({"path": "a.db"});
        all.as_object_mut().expect("an object").extend(arguments.as_object().expect("one").clone());
        let result = place.call("query_sqlite", all).await;
        assert_eq!(result.status, ToolStatus::Success, "{result:?}");
        assert_eq!(result.output, expect);
    };
    check(
        json!({"sql": "SELECT * FROM people WHERE id < 3"}),
        "[\"id\",\"name\",\"photo\"]\n[1, \"Ada\", <blob of 3 bytes>]\n[2, \"Bö\\\"b\", null]\n[2 rows]",
    )
    .await;
    check(
        json!({"sql": "SELECT id FROM people WHERE name = ? AND id = ?", "params": ["Ada", 1]}),
        "[\"id\"]\n[1]\n[1 rows]",
    )
    .await;
    check(
        json!({"sql": "SELECT id FROM people", "max_rows": 2}),
        "[\"id\"]\n[1]\n[2]\n[There are more than 2 rows; use LIMIT and OFFSET, or count.]",
    )
    .await;
    let nothing = query(&place, "SELECT id FROM people WHERE id = 9").await;
    assert_eq!(nothing.status, ToolStatus::Empty);
    assert_eq!(nothing.output, "[\"id\"]\n[no rows]");
}

#[tokio::test]
async fn without_sql_the_schema_is_told() {
    let place = Place::new();
    database(&place, TABLE).execute_batch("CREATE VIEW v AS SELECT 1").expect("a view");
    let told = place.call("query_sqlite", json!({"path": "a.db"})).await;
    assert!(told.output.contains("CREATE TABLE people (id INTEGER"), "{told:?}");
    assert!(
        told.output
            .ends_with("CREATE VIEW v AS SELECT 1;\n[3 tables, views, indexes and triggers]")
    );
    place.write("empty.db", "");
    let told = place.call("query_sqlite", json!({"path": "empty.db"})).await;
    assert_eq!(told.status, ToolStatus::Empty);
}

#[tokio::test]
async fn a_statement_does_nothing_but_read() {
    let place = Place::new();
    database(&place, TABLE);
    let before = std::fs::read(place.workspace.join("a.db")).expect("the file");
    let outside = place.outside.join("stolen.db");
    for sql in [
        "INSERT INTO people VALUES (4, 'x', NULL)",
        "WITH a AS (SELECT 1) DELETE FROM people",
        "UPDATE people SET name = 'x'",
        "EXPLAIN DELETE FROM people",
        "REPLACE INTO people VALUES (1, 'x', NULL) RETURNING id",
        "DROP TABLE people",
        "ALTER TABLE people ADD COLUMN x",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "CREATE TEMP VIEW t AS SELECT 1",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        &format!("ATTACH '{}' AS other", outside.display()),
        "ATTACH ':memory:' AS other",
        "DETACH main",
        &format!("VACUUM INTO '{}'", outside.display()),
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "SAVEPOINT a",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 5",
        "PRAGMA writable_schema = 1",
        "PRAGMA query_only = 0",
        "PRAGMA hard_heap_limit = 0",
        "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT writefile('/tmp/x', 'y')",
        "SELECT readfile('/etc/passwd')",
        "SELECT 1; DROP TABLE people",
        "SELECT 1; SELECT 2",
        "no sql",
        "-- nothing",
    ] {
        let refused = query(&place, sql).await;
        assert_eq!(refused.status, ToolStatus::FatalError, "{sql}: {refused:?}");
        assert!(
            matches!(refused.error_code.as_str(), "SQL_NOT_ALLOWED" | "SQL_ERROR"),
            "{sql}: {refused:?}"
        );
    }
    assert!(!outside.exists());
    assert_eq!(std::fs::read(place.workspace.join("a.db")).expect("the file"), before);
    assert_eq!(std::fs::read_dir(&place.workspace).expect("w").count(), 1);
}

#[tokio::test]
async fn a_statement_is_judged_by_what_it_does_and_not_by_its_words() {
    let place = Place::new();
    let sql = "CREATE TABLE \"insert\" (\"delete\" TEXT); INSERT INTO \"insert\" VALUES ('x');
        CREATE VIRTUAL TABLE notes USING fts5(body); INSERT INTO notes VALUES ('some words');";
    database(&place, sql);
    for (sql, expect) in [
        ("SELECT \"delete\" FROM \"insert\"", "[\"x\"]"),
        ("SELECT 'DROP TABLE a; ATTACH x' AS a", "[\"DROP TABLE a; ATTACH x\"]"),
        ("SELECT replace('a', 'a', 'b')", "[\"b\"]"),
        ("SELECT name FROM pragma_table_info('insert')", "[\"delete\"]"),
        ("PRAGMA table_info('insert')", "\"delete\""),
        ("PRAGMA integrity_check", "[\"ok\"]"),
        ("PRAGMA user_version", "[0]"),
        ("SELECT body FROM notes WHERE notes MATCH 'words'", "[\"some words\"]"),
        ("EXPLAIN QUERY PLAN SELECT * FROM \"insert\"", "SCAN insert"),
        ("VALUES (1), (2);", "[2 rows]"),
    ] {
        let result = query(&place, sql).await;
        assert!(result.output.contains(expect), "{sql}: {result:?}");
    }
}

#[tokio::test]
async fn what_is_committed_to_the_log_beside_the_file_is_read() {
    let place = Place::new();
    let writer = database(&place, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
    writer.execute_batch(TABLE).expect("write");
    let told = query(&place, "SELECT count(*) FROM people").await;
    assert!(told.output.starts_with("[\"count(*)\"]\n[3]"), "{told:?}");
    assert!(told.output.contains("are taken from the write-ahead log"), "{told:?}");

    writer.execute_batch("BEGIN; DELETE FROM people;").expect("begin");
    let told = query(&place, "SELECT count(*) FROM people").await;
    assert!(told.output.starts_with("[\"count(*)\"]\n[3]"), "not committed: {told:?}");
    writer.execute_batch("COMMIT; PRAGMA wal_checkpoint(RESTART);").expect("commit");
    writer.execute_batch("INSERT INTO people VALUES (7, 'x', NULL);").expect("write over the log");
    let told = query(&place, "SELECT id FROM people").await;
    assert!(told.output.starts_with("[\"id\"]\n[7]\n[1 rows]"), "{told:?}");
    let log = std::fs::metadata(place.workspace.join("a.db-wal")).expect("the log");
    assert!(log.len() > 0, "the log is left as it was");

    // A log that is cut in the middle of its last commit counts up to the one before.
    drop(writer);
    let place = Place::new();
    let writer = database(&place, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
    writer.execute_batch(TABLE).expect("write");
    writer.execute_batch("DELETE FROM people").expect("write");
    let log = std::fs::read(place.workspace.join("a.db-wal")).expect("the log");
    let main = std::fs::read(place.workspace.join("a.db")).expect("the file");
    place.write("b.db", main);
    place.write("b.db-wal", &log[..log.len() - 100]);
    let told = place
        .call("query_sqlite", json!({"path": "b.db", "sql": "SELECT count(*) FROM people"}))
        .await;
    assert!(told.output.starts_with("[\"count(*)\"]\n[3]"), "{told:?}");
}

#[tokio::test]
async fn a_database_in_the_middle_of_a_transaction_is_not_read() {
    let place = Place::new();
    database(&place, TABLE);
    place.write("a.db-journal", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more");
    let busy = query(&place, "SELECT 1").await;
    assert_eq!(
        (busy.status, busy.error_code.as_str()),
        (ToolStatus::RetryableError, "DATABASE_BUSY")
    );
    // As SQLite leaves it after a commit with journal_mode = PERSIST.
    place.write("a.db-journal", [0; 512]);
    assert_eq!(query(&place, "SELECT 1").await.status, ToolStatus::Success);
}

#[tokio::test]
async fn what_is_no_database_is_told_so() {
    let place = Place::new();
    place.write("a.db", "just text, and more of it");
    assert_refused(&query(&place, "SELECT 1").await, "NOT_A_DATABASE");
    database_in(&place.outside, TABLE);
    let mut bytes = std::fs::read(place.outside.join("a.db")).expect("the file");
    bytes[100..4_096].fill(0xff);
    place.write("a.db", bytes);
    assert_refused(&query(&place, "SELECT * FROM people").await, "DATABASE_DAMAGED");
    let missing = place.call("query_sqlite", json!({"path": "no.db"})).await;
    assert_refused(&missing, "NOT_FOUND");
}

#[tokio::test]
async fn sc_01_no_database_outside_of_the_workspace_is_read() {
    let place = Place::new();
    database_in(&place.outside, TABLE);
    place.link(place.outside.join("a.db"), "link.db");
    for path in ["../outside/a.db", "link.db", &place.outside.join("a.db").to_string_lossy()] {
        let refused = place.call("query_sqlite", json!({"path": path})).await;
        assert_refused(&refused, "PATH_OUTSIDE_WORKSPACE");
    }
}

#[tokio::test]
async fn sc_03_a_protected_file_is_no_database() {
    let place = Place::new();
    place.write(".env", "KEY=1");
    let refused = place.call("query_sqlite", json!({"path": ".env"})).await;
    assert_refused(&refused, "PROTECTED_FILE");
}

#[tokio::test]
async fn a_query_stays_within_its_room() {
    let place = Place::new();
    database(&place, TABLE);
    let numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 200)";
    let long = query(&place, &format!("{numbers} SELECT printf('%.*c', 9000, '世') FROM c")).await;
    assert!(long.output.len() < 60 * 1024, "{}", long.output.len());
    assert!(long.output.contains("More rows follow these"), "{}", long.output.len());
    let blob = query(&place, "SELECT zeroblob(100000000)").await;
    assert_refused(&blob, "QUERY_TOO_LARGE");
}

#[tokio::test(start_paused = true)]
async fn a_query_without_an_end_is_stopped_after_a_while() {
    let place = Place::new();
    database(&place, TABLE);
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                   SELECT count(*) FROM c";
    let arguments = json!({"path": "a.db", "sql": endless}).to_string();
    let call = place.registry.prepare("query_sqlite", &arguments).expect("a call");
    let ctx = context(&place.workspace);
    let planned = call.plan(&ctx).await.expect("a plan");
    let waiting = async {
        tokio::task::yield_now().await;
        tokio::time::advance(std::time::Duration::from_secs(21)).await;
    };
    let (stopped, ()) =
        tokio::join!(run_call(call, &planned, &ctx, CallLimits::default()), waiting);
    assert_eq!(
        (stopped.result.status, stopped.result.error_code.as_str()),
        (ToolStatus::Partial, "QUERY_STOPPED")
    );
}

#[tokio::test]
async fn a_query_without_an_end_is_stopped_with_its_turn() {
    let place = Place::new();
    database(&place, TABLE);
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
                   SELECT count(*) FROM c";
    let arguments = json!({"path": "a.db", "sql": endless}).to_string();
    let call = place.registry.prepare("query_sqlite", &arguments).expect("a call");
    let ctx = context(&place.workspace);
    let planned = call.plan(&ctx).await.expect("a plan");
    let cancel = async {
        tokio::task::yield_now().await;
        ctx.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run_call(call, &planned, &ctx, CallLimits::default()), cancel);
    assert_eq!(outcome.result.status, ToolStatus::Interrupted);
}
