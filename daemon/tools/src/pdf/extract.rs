//! The process that reads one document, from its input to its output.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use agentd_domain::floor_char_boundary;
use lopdf::{Document, LoadOptions};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{MAX_PDF, MAX_TEXT, PdfText};

/// What the kernel lets the process have: addresses in bytes, and seconds of the processor.
const ADDRESSES: u64 = 1024 * 1024 * 1024;
const CPU_SECONDS: u64 = 15;

/// Bytes of one stream of a document once unpacked.
const MAX_STREAM: usize = 64 * 1024 * 1024;

/// Most pages that are read.
const MAX_PAGES: usize = 2_000;

/// Reads a document from the standard input and writes what it says to the standard output, within
/// bounds on memory and time that the kernel keeps. For the daemon's binary, when it is started with
/// [`super::PDF_COMMAND`].
pub fn run_pdf_helper() -> ExitCode {
    for (resource, most) in
        [(Resource::As, ADDRESSES), (Resource::Cpu, CPU_SECONDS), (Resource::Core, 0)]
    {
        // Without bounds nothing is read.
        if setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).is_err() {
            return ExitCode::FAILURE;
        }
    }
    let mut document = Vec::new();
    let most = u64::try_from(MAX_PDF).unwrap_or(u64::MAX);
    if std::io::stdin().take(most).read_to_end(&mut document).is_err() {
        return ExitCode::FAILURE;
    }
    let said = serde_json::to_vec(&extract(&document)).unwrap_or_default();
    match std::io::stdout().write_all(&said) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_gone) => ExitCode::FAILURE,
    }
}

/// The text of a document, or why there is none.
fn extract(bytes: &[u8]) -> Result<PdfText, String> {
    let options = LoadOptions { max_decompressed_size: Some(MAX_STREAM), ..LoadOptions::default() };
    let document =
        Document::load_mem_with_options(bytes, options).map_err(|error| error.to_string())?;
    if document.is_encrypted() {
        return Err("it is locked with a password".to_owned());
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    let (mut text, mut notes, mut unread, mut shown) = (String::new(), Vec::new(), 0_usize, 0);
    for number in numbers.iter().take(MAX_PAGES) {
        let chunks = document.extract_text_chunks_with_limit(&[*number], MAX_STREAM);
        unread += usize::from(chunks.iter().any(Result::is_err));
        let page: String = chunks.into_iter().filter_map(Result::ok).collect();
        let page = format!("[page {number}]\n{}\n\n", plain(&page));
        text.push_str(&page);
        if text.len() > MAX_TEXT {
            text.truncate(floor_char_boundary(&text, MAX_TEXT));
            break;
        }
        shown += 1;
    }
    if shown < numbers.len() {
        notes.push(format!("Pages after page {shown} were not read, or not to their end."));
    }
    if unread > 0 {
        notes.push(format!("Parts of {unread} pages could not be read."));
    }
    Ok(PdfText { text, pages: numbers.len(), notes })
}

/// Lines without what steers terminals and without spaces at their ends.
fn plain(page: &str) -> String {
    let lines = page.lines().map(|line| {
        let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document whose pages show these lines in a font of the standard.
    fn document(pages: &[&str]) -> Vec<u8> {
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            String::new(),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
                .to_owned(),
        ];
        let kids: Vec<String> =
            (0..pages.len()).map(|page| format!("{} 0 R", objects.len() + 1 + 2 * page)).collect();
        for page in pages {
            let content = format!("BT /F1 12 Tf 72 720 Td ({page}) Tj ET");
            let number = objects.len() + 1;
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
                 /Resources << /Font << /F1 3 0 R >> >> >>",
                number + 1
            ));
            let length = content.len();
            objects.push(format!("<< /Length {length} >>\nstream\n{content}\nendstream"));
        }
        let kids = kids.join(" ");
        objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
        let size = objects.len() + 1;
        let mut parts = vec!["%PDF-1.4\n".to_owned()];
        let mut table = vec![format!("xref\n0 {size}\n0000000000 65535 f \n")];
        for (at, object) in objects.iter().enumerate() {
            let place: usize = parts.iter().map(String::len).sum();
            table.push(format!("{place:010} 00000 n \n"));
            parts.push(format!("{} 0 obj\n{object}\nendobj\n", at + 1));
        }
        let start: usize = parts.iter().map(String::len).sum();
        let end = format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
        let file = [parts.concat(), table.concat(), end].concat();
        file.into_bytes()
    }

    #[test]
    fn the_text_of_each_page_comes_after_its_number() {
        let read = extract(&document(&["First words", "Second \\(page\\)"])).expect("a document");
        assert_eq!(read.text, "[page 1]\nFirst words\n\n[page 2]\nSecond (page)\n\n");
        assert_eq!((read.pages, read.notes), (2, Vec::new()));
    }

    #[test]
    fn what_is_no_document_is_told() {
        let whole = document(&["words"]);
        assert!(extract(b"%PDF-1.4\nnothing").is_err());
        assert!(extract(b"").is_err());
        // Whatever is cut off or changed, the process says something or ends by itself.
        for at in (0..whole.len()).step_by(7) {
            drop(extract(whole.get(..at).expect("a part")));
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            drop(extract(&changed));
        }
    }

    #[test]
    fn characters_that_steer_terminals_are_left_out() {
        assert_eq!(plain("a\u{1b}[2Jb  \n\n c\u{7}\n"), "a[2Jb\n\n c");
    }
}
