//! Pages of the documentation that show what the programs show. Their blocks are made by tests, which
//! fail when a page is out of date and write it anew when they are told to.

#![expect(clippy::panic, reason = "a helper that fails fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

/// Set to anything but nothing, it has blocks written instead of compared.
const UPDATE: &str = "UPDATE_PAGES";
/// What renews all pages.
const REMEDY: &str = "`cargo xtask screenshots` writes it anew; look at the difference";

/// A page of the documentation.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its path from the root of the project.
    name: &'static str,
    path: PathBuf,
}

impl Page {
    /// The page at a path from the root of the project, such as `docs/CLI.md`.
    pub fn new(name: &'static str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Self { name, path: root.join(name) }
    }

    /// Checks that a block of the page is a text.
    ///
    /// # Panics
    /// When it is another, with what renews it, and when the page has no such block.
    #[track_caller]
    pub fn check(&self, block: &str, text: &str) {
        let name = self.name;
        let page = self.read();
        let Some(renewed) = with_block(&page, block, text) else {
            panic!("{name} has no block {block}: add the lines {} and {END}", begin(block));
        };
        if renewed == page {
            return;
        }
        let writes = std::env::var_os(UPDATE).is_some_and(|value| !value.is_empty());
        assert!(
            writes,
            "the block {block} of {name} is out of date: {REMEDY}\nit has to be:\n{text}"
        );
        if let Err(error) = fs::write(&self.path, renewed) {
            panic!("write {name}: {error}");
        }
    }

    /// The names of its blocks, in order.
    ///
    /// # Panics
    /// When it cannot be read.
    #[track_caller]
    pub fn blocks(&self) -> Vec<String> {
        let page = self.read();
        let name = |line: &str| Some(line.strip_prefix(BEGIN)?.strip_suffix(CLOSE)?.to_owned());
        page.lines().filter_map(name).collect()
    }

    #[track_caller]
    fn read(&self) -> String {
        fs::read_to_string(&self.path).unwrap_or_else(|error| panic!("read {}: {error}", self.name))
    }
}

/// A text as a block that is shown as it is.
pub fn verbatim(text: &str) -> String {
    format!("```text\n{}\n```", text.trim_end())
}

const BEGIN: &str = "<!-- shown: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

fn begin(block: &str) -> String {
    format!("{BEGIN}{block}{CLOSE}")
}

/// The page with another text in a block; `None` when it has no such block.
fn with_block(page: &str, block: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("{}\n", begin(block)))?;
    let (old, after) = rest.split_once(END)?;
    // Without an end of its own it would swallow the next one.
    (!old.contains(BEGIN))
        .then(|| format!("{before}{}\n{}\n{END}{after}", begin(block), text.trim_end_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let page =
            "# a\n<!-- shown: one -->\nold\n<!-- end -->\nb\n<!-- shown: two -->\n<!-- end -->\n";
        let check = |block: &str, expect: Option<&str>| {
            assert_eq!(with_block(page, block, "new\n").as_deref(), expect, "{block}");
        };
        check(
            "one",
            Some(
                "# a\n<!-- shown: one -->\nnew\n<!-- end -->\nb\n<!-- shown: two -->\n<!-- end -->\n",
            ),
        );
        check(
            "two",
            Some(
                "# a\n<!-- shown: one -->\nold\n<!-- end -->\nb\n<!-- shown: two -->\nnew\n<!-- end -->\n",
            ),
        );
        check("three", None);
    }

    #[test]
    fn a_block_without_an_end_is_none() {
        let page = "<!-- shown: one -->\n<!-- shown: two -->\n<!-- end -->\n";
        assert_eq!(with_block(page, "one", "x"), None);
    }
}
