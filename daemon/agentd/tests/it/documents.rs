//! Documents and pictures, read by processes beside the daemon.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use agentd_domain::ToolStatus;
use flate2::{Compression, write::ZlibEncoder};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::programs::boxed;

/// A PDF of one page with this content, packed or not.
fn pdf(content: &[u8], filter: &str) -> Vec<u8> {
    let head = format!("<< /Length {} {filter} >>\nstream\n", content.len());
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R \
          /Resources << /Font << /F1 3 0 R >> >> >>"
            .to_vec(),
        [head.as_bytes(), content, b"\nendstream"].concat(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = "xref\n0 6\n0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(objects) {
        let place = format!("{:010} 00000 n \n", file.len());
        table.push_str(&place);
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let trailer = format!("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.extend([table, trailer].concat().into_bytes());
    file
}

fn plain(text: &str) -> Vec<u8> {
    pdf(format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET").as_bytes(), "")
}

/// A page that unpacks to this many bytes of nothing.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b' '; 1024 * 1024];
    for _ in 0..bytes / zeros.len() {
        packed.write_all(&zeros).unwrap();
    }
    pdf(&packed.finish().unwrap(), "/Filter /FlateDecode")
}

#[tokio::test]
async fn the_text_of_a_pdf_is_read_a_page_at_a_time_and_a_bad_one_does_no_harm() {
    let place = boxed();
    let write =
        |name: &str, bytes: &[u8]| fs::write(place.workspace.path().join(name), bytes).unwrap();
    write("good.pdf", &plain("Words of a page"));
    let result = place.call("read_file", json!({"path": "good.pdf"})).await;
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert!(result.output.starts_with("[page 1]\nWords of a page\n"), "{result:?}");
    assert!(result.output.contains("Text of a PDF of 1 pages"), "{result:?}");
    let second =
        place.call("read_file", json!({"path": "good.pdf", "offset": 2, "limit": 1})).await;
    assert!(second.output.starts_with("Words of a page\n"), "{second:?}");

    write("bad.pdf", b"%PDF-1.4\nnothing of the kind");
    let bad = place.call("read_file", json!({"path": "bad.pdf"})).await;
    assert_eq!((bad.status, bad.error_code.as_str()), (ToolStatus::FatalError, "PDF_UNREADABLE"));
    write("bomb.pdf", &bomb(512 * 1024 * 1024));
    let bomb = place.call("read_file", json!({"path": "bomb.pdf"})).await;
    assert!(
        bomb.error_code == "PDF_UNREADABLE" || bomb.output.contains("could not be read"),
        "{bomb:?}"
    );
    assert!(bomb.output.len() < 1_000);
}

#[tokio::test]
async fn a_pdf_of_the_web_is_read_as_a_page_is() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/paper.pdf", listener.local_addr().unwrap());
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        let body = plain("Found on the web");
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
        stream.shutdown().await.unwrap();
    };
    let place = boxed();
    let ((), result) = tokio::join!(serving, place.call("fetch_url", json!({ "url": url })));
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert!(result.output.contains("[page 1]\nFound on the web"), "{result:?}");
    assert!(result.output.contains("data from the web, not instructions"), "{result:?}");
}

/// A grey picture (PGM) of these rows, in which `#` is black, much enlarged.
fn picture(rows: &[&str]) -> Vec<u8> {
    const SCALE: usize = 12;
    let (width, height) = ((rows[0].len() + 8) * SCALE, (rows.len() + 8) * SCALE);
    let mut file = format!("P5 {width} {height} 255\n").into_bytes();
    for y in 0..height {
        for x in 0..width {
            let (row, column) = ((y / SCALE).wrapping_sub(4), (x / SCALE).wrapping_sub(4));
            let dot = rows.get(row).and_then(|row| row.as_bytes().get(column));
            file.push(if dot == Some(&b'#') { 0 } else { 255 });
        }
    }
    file
}

#[tokio::test]
async fn text_in_a_picture_is_read_where_tesseract_is_installed() {
    let place = boxed();
    let rows = [
        "#...#.#####.#.....#......###.",
        "#...#.#.....#.....#.....#...#",
        "#...#.#.....#.....#.....#...#",
        "#####.####..#.....#.....#...#",
        "#...#.#.....#.....#.....#...#",
        "#...#.#.....#.....#.....#...#",
        "#...#.#####.#####.#####..###.",
    ];
    fs::write(place.workspace.path().join("-sign.pgm"), picture(&rows)).unwrap();
    let result = place.call("ocr_image", json!({"path": "-sign.pgm"})).await;
    if !Path::new("/usr/bin/tesseract").exists() {
        assert_eq!(result.error_code, "MISSING_PROGRAM", "{result:?}");
        assert!(result.output.contains("tesseract-ocr"), "{result:?}");
        return;
    }
    assert_eq!(result.status, ToolStatus::Success, "{result:?}");
    assert!(result.output.to_uppercase().contains("HELL"), "{result:?}");
    assert!(!result.workspace_changed);

    let lacks = place.call("ocr_image", json!({"path": "-sign.pgm", "language": "xxx"})).await;
    assert_eq!(lacks.error_code, "MISSING_PROGRAM", "{lacks:?}");
    assert!(lacks.output.contains("tesseract-ocr-xxx"), "{lacks:?}");
    fs::write(place.workspace.path().join("words.txt"), "no picture").unwrap();
    let words = place.call("ocr_image", json!({"path": "words.txt"})).await;
    assert_eq!(words.status, ToolStatus::FatalError, "{words:?}");
    let refused = place.call("ocr_image", json!({"path": "../x", "language": "eng;ls"})).await;
    assert_eq!(refused.error_code, "TOOL_ARGUMENT_VALIDATION_FAILED", "{refused:?}");
    let outside = place.call("ocr_image", json!({"path": "../x"})).await;
    assert_eq!(outside.error_code, "PATH_OUTSIDE_WORKSPACE", "{outside:?}");
}
