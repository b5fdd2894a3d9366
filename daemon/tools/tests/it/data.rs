//! Archives and check sums.

use std::io::Write as _;

use agentd_domain::{ToolResult, ToolStatus};
use flate2::{Compression, write::GzEncoder};
use serde_json::json;

use crate::harness::{Place, assert_refused};

/// A header of ustar, and the content behind it.
fn tar_entry(name: &str, kind: u8, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; 512];
    let mut put = |at: usize, bytes: &[u8]| {
        for (place, byte) in header.iter_mut().skip(at).zip(bytes) {
            *place = *byte;
        }
    };
    put(0, name.as_bytes());
    put(124, format!("{:011o}\0", content.len()).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    for (place, byte) in header.iter_mut().skip(148).zip(format!("{sum:06o}\0 ").bytes()) {
        *place = byte;
    }
    let mut entry = header.to_vec();
    entry.extend_from_slice(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn tar() -> Vec<u8> {
    let long = format!("deep/{}.txt", "n".repeat(150));
    let pax = format!("path={long}\n");
    let pax = format!("{} {pax}", pax.len() + 4);
    [
        tar_entry("src/", b'5', "", b""),
        tar_entry("src/main.rs", b'0', "", b"fn main() {}\n"),
        tar_entry("latest", b'2', "src/main.rs", b""),
        tar_entry("pax", b'x', "", pax.as_bytes()),
        tar_entry("short", b'0', "", &[7; 1_000]),
        tar_entry("././@LongLink", b'L', "", b"../../etc/passwd\0"),
        tar_entry("short", b'0', "", b"x"),
        tar_entry("pipe", b'6', "", b""),
        vec![0; 1_024],
    ]
    .concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).expect("in memory");
    gzip.finish().expect("in memory")
}

/// A directory of zip with entries of these names and sizes; what they hold is not looked at.
fn zip(entries: &[(&str, u32)], comment: &[u8]) -> Vec<u8> {
    let mut directory = Vec::new();
    for (name, size) in entries {
        let mut header = vec![0_u8; 46];
        header.splice(0..4, *b"PK\x01\x02");
        header.splice(24..28, size.to_le_bytes());
        header.splice(28..30, u16::try_from(name.len()).expect("short").to_le_bytes());
        directory.extend(header);
        directory.extend(name.bytes());
    }
    let mut file = b"PK\x03\x04 contents".to_vec();
    let start = u32::try_from(file.len()).expect("small");
    let length = u32::try_from(directory.len()).expect("small");
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([0; 4]);
    file.extend(length.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend(u16::try_from(comment.len()).expect("short").to_le_bytes());
    file.extend(comment);
    file
}

async fn list(place: &Place, path: &str) -> ToolResult {
    place.call("list_archive", json!({ "path": path })).await
}

#[tokio::test]
async fn an_archive_of_tar_is_listed_with_long_names_and_links() {
    let place = Place::new();
    place.write("a.tar", tar());
    place.write("a.tar.gz", gzip(&tar()));
    for (path, kind) in [("a.tar", "tar"), ("a.tar.gz", "tar.gz")] {
        let expect = format!(
            "src/\nsrc/main.rs  13 bytes\nlatest -> src/main.rs\ndeep/{}.txt  1000 bytes\n\
             ../../etc/passwd  1 bytes\npipe  (device or pipe)\n\
             [{kind}, 6 entries, 1014 bytes when extracted.]\n\
             [1 names lead outside of the directory it is extracted to.]",
            "n".repeat(150)
        );
        assert_eq!(list(&place, path).await, ToolResult::success(expect));
    }
}

#[tokio::test]
async fn an_archive_of_zip_is_listed_also_behind_a_program_and_before_a_comment() {
    let place = Place::new();
    let archive = zip(&[("doc/", 0), ("doc/世界.txt", 12), ("C:\\boot.ini", 3)], b"PK\x05\x06?");
    place.write("a.zip", &archive);
    place.write("setup.exe", [b"MZ program".to_vec(), archive].concat());
    place.write("empty.zip", zip(&[], b""));
    for path in ["a.zip", "setup.exe"] {
        assert_eq!(
            list(&place, path).await,
            ToolResult::success(
                "doc/\ndoc/世界.txt  12 bytes\nC:\\boot.ini  3 bytes\n\
                 [zip, 3 entries, 15 bytes when extracted.]\n\
                 [1 names lead outside of the directory it is extracted to.]"
            )
        );
    }
    assert_eq!(list(&place, "empty.zip").await.status, ToolStatus::Empty);
}

#[tokio::test]
async fn a_long_archive_comes_in_pages() {
    let place = Place::new();
    let names: Vec<String> = (1..=700).map(|at| format!("f{at}")).collect();
    let entries: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    place.write("a.zip", zip(&entries, b""));
    let first = list(&place, "a.zip").await.output;
    assert!(first.ends_with("[Entries 1 to 500 of 700. Go on with offset 501.]"), "{first}");
    let rest = place.call("list_archive", json!({"path": "a.zip", "offset": 501})).await.output;
    assert!(rest.starts_with("f501  1 bytes\n"), "{rest}");
    assert!(rest.ends_with("[Entries 501 to 700 of 700.]"), "{rest}");
    let beyond = place.call("list_archive", json!({"path": "a.zip", "offset": 701})).await;
    assert_refused(&beyond, "OFFSET_BEYOND_END");
}

#[tokio::test]
async fn a_bomb_of_names_stays_within_a_page() {
    let place = Place::new();
    let name = "世".repeat(20_000);
    let entries: Vec<(&str, u32)> = vec![(name.as_str(), u32::MAX - 1); 600];
    place.write("a.zip", zip(&entries, b""));
    let result = list(&place, "a.zip").await;
    assert!(result.output.len() < 110 * 1024, "{}", result.output.len());
    assert!(result.output.contains("Go on with offset"));
}

#[tokio::test]
async fn archives_cut_off_anywhere_are_errors_or_partly_listed_and_never_a_panic() {
    let place = Place::new();
    let (tar, zip) = (tar(), zip(&[("a", 1), ("b", 2)], b"c"));
    for (name, whole, step) in [("a.tar", &tar, 97), ("a.zip", &zip, 1)] {
        for length in (0..whole.len()).step_by(step) {
            let part: Vec<u8> = whole.iter().copied().take(length).collect();
            for (path, bytes) in [(name, part.clone()), ("p.gz", gzip(&part)), ("q.gz", part)] {
                place.write(path, bytes);
                let result = list(&place, path).await;
                assert!(!result.output.is_empty());
                assert_ne!(result.error_code, "TOOL_PANICKED", "{path} {length}: {result:?}");
            }
        }
    }
    // A damaged middle shows what is before it.
    let damaged: Vec<u8> = tar.iter().copied().take(1_600).chain([9; 2_000]).collect();
    place.write("a.tar", damaged);
    let result = list(&place, "a.tar").await;
    assert!(result.output.starts_with("src/\nsrc/main.rs  13 bytes\n"), "{result:?}");
    assert!(result.output.contains("damaged"), "{result:?}");
}

#[tokio::test]
async fn what_is_no_archive_is_told_as_what_it_is() {
    let place = Place::new();
    place.write("a.txt", "text");
    place.write("a.gz", gzip(b"only a file"));
    place.write("a.zst", b"\x28\xb5\x2f\xfd....");
    place.link(&place.outside, "out");
    assert_refused(&list(&place, "a.txt").await, "NOT_AN_ARCHIVE");
    let told = list(&place, "a.gz").await;
    assert_refused(&told, "NOT_AN_ARCHIVE");
    assert!(told.output.contains("compressed, but not a tar archive"), "{told:?}");
    assert!(list(&place, "a.zst").await.output.contains("zstd"));
    assert_refused(&list(&place, "out/victim").await, "PATH_OUTSIDE_WORKSPACE");
    assert_refused(&list(&place, "none.zip").await, "NOT_FOUND");
}

#[tokio::test]
async fn check_sums_are_those_of_the_standards() {
    let place = Place::new();
    place.write("abc", "abc");
    let check = async |algorithm: &str, expect: &str| {
        let result = place.call("hash_file", json!({"path": "abc", "algorithm": algorithm})).await;
        assert_eq!(result, ToolResult::success(format!("{expect}\nbytes: 3")));
    };
    // FIPS 180-4 and RFC 1321 give these.
    check("sha256", "sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        .await;
    check("sha1", "sha1 (not safe against forgery): a9993e364706816aba3e25717850c26c9cd0d89d")
        .await;
    check("md5", "md5 (not safe against forgery): 900150983cd24fb0d6963f7d28e17f72").await;
    check(
        "sha512",
        "sha512: ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    )
    .await;
}

#[tokio::test]
async fn a_check_sum_is_compared_with_the_expected_one() {
    let place = Place::new();
    place.write("abc", "abc");
    let ask = async |expected: &str| {
        let arguments = json!({"path": "abc", "algorithm": "md5", "expected": expected});
        place.call("hash_file", arguments).await.output
    };
    assert!(
        ask(" 900150983CD24FB0D6963F7D28E17F72\n").await.ends_with("\nIt is the expected sum.")
    );
    assert!(ask("900150983cd24fb0").await.ends_with("\nIt is NOT the expected sum."));
    let escaped = place.call("hash_file", json!({"path": "../outside/victim"})).await;
    assert_refused(&escaped, "PATH_OUTSIDE_WORKSPACE");
    let wrong = place.call("hash_file", json!({"path": "abc", "algorithm": "crc"})).await;
    assert_eq!(wrong.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED");
    assert!(wrong.output.contains("sha256"), "{wrong:?}");
}
