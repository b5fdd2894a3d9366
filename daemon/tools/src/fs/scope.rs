//! Which files a search is about: where it begins, and the patterns that names must fit.
//!
//! The literal beginning of a pattern names a directory as a path does: `.github/**/*.yml` is
//! searched although `.github` is hidden.

use std::path::Path;

use agentd_domain::{ToolResult, cut_line};
use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use ignore::types::{Types, TypesBuilder};

use super::walk::Found;
use crate::nearest::{did_you_mean, nearest};

/// How much of a pattern is shown in a message, in characters.
const MAX_SHOWN: usize = 200;

/// A pattern of file names.
#[derive(Debug)]
pub(super) struct Names {
    /// Where the search begins: the path with the literal beginning of the pattern.
    pub(super) base: String,
    /// Hidden names that the pattern wants.
    pub(super) dots: GlobSet,
    glob: Option<Glob>,
    types: Types,
}

#[derive(Debug)]
struct Glob {
    matcher: GlobMatcher,
    /// It is about the whole path below the base, not about the name alone.
    by_path: bool,
    excludes: bool,
}

impl Names {
    /// Reads a path, a pattern and a type of files.
    ///
    /// # Errors
    /// The result of the call, when pattern or type are none.
    pub(super) fn read(
        path: Option<&str>,
        glob: Option<&str>,
        kind: Option<&str>,
    ) -> Result<Self, ToolResult> {
        let types = read_types(kind)?;
        let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let mut names = Self { base: path.to_owned(), dots: GlobSet::empty(), glob: None, types };
        let Some(glob) = glob.filter(|glob| !glob.is_empty()) else { return Ok(names) };
        let (excludes, pattern) =
            glob.strip_prefix('!').map_or((false, glob), |pattern| (true, pattern));
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let by_path = pattern.contains('/');
        let (beginning, rest) = if excludes { ("", pattern) } else { literal_beginning(pattern) };
        if !beginning.is_empty() {
            // An absolute beginning stays one: it is for the workspace to refuse it.
            names.base = Path::new(path).join(beginning).to_string_lossy().into_owned();
        }
        names.dots = dots(rest, glob)?;
        names.glob =
            Some(Glob { matcher: compile(rest, glob)?.compile_matcher(), by_path, excludes });
        Ok(names)
    }

    /// True when a file fits.
    pub(super) fn fit(&self, file: &Found<'_>) -> bool {
        let of_type = self.types.is_empty() || self.types.matched(file.place, false).is_whitelist();
        of_type
            && self.glob.as_ref().is_none_or(|glob| {
                let fits = if glob.by_path {
                    glob.matcher.is_match(file.below)
                } else {
                    glob.matcher.is_match(file.name)
                };
                fits != glob.excludes
            })
    }
}

/// Splits a pattern before its first part that is none to take literally; its last part stays.
fn literal_beginning(pattern: &str) -> (&str, &str) {
    let mut split = 0;
    for (at, _) in pattern.match_indices('/') {
        let part = pattern.get(split..at).unwrap_or_default();
        if part.contains(['*', '?', '[', '{', '\\']) {
            break;
        }
        split = at + 1;
    }
    pattern.split_at(split)
}

fn compile(pattern: &str, given: &str) -> Result<globset::Glob, ToolResult> {
    GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        ToolResult::fatal(
            "INVALID_PATTERN",
            format!("glob: '{}' is no pattern: {}.", cut_line(given, MAX_SHOWN), error.kind()),
        )
    })
}

fn dots(pattern: &str, given: &str) -> Result<GlobSet, ToolResult> {
    let mut wanted = GlobSetBuilder::new();
    for part in pattern.split('/').filter(|part| part.starts_with('.')) {
        wanted.add(compile(part, given)?);
    }
    wanted.build().map_err(|error| {
        ToolResult::fatal("INVALID_PATTERN", format!("glob: it is too large: {error}."))
    })
}

fn read_types(kind: Option<&str>) -> Result<Types, ToolResult> {
    let Some(kind) = kind.filter(|kind| !kind.is_empty()) else { return Ok(Types::empty()) };
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(kind).build().map_err(|_unknown| {
        let known = builder.definitions();
        let near = nearest(kind, known.iter().map(ignore::types::FileTypeDef::name), 2);
        let hint = if near.is_empty() {
            "; use one such as rust, py, js, ts, go, c, cpp, java, md, json, toml or yaml."
                .to_owned()
        } else {
            did_you_mean(&near)
        };
        ToolResult::fatal(
            "UNKNOWN_TYPE",
            format!("type: there is no type of files '{}'{hint}", cut_line(kind, MAX_SHOWN)),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_beginning_of_a_pattern_is_a_path() {
        let check = |pattern, expect| assert_eq!(literal_beginning(pattern), expect, "{pattern}");
        check(".github/**/*.yml", (".github/", "**/*.yml"));
        check("src/a/main.rs", ("src/a/", "main.rs"));
        check("*.rs", ("", "*.rs"));
        check("**/x/*.rs", ("", "**/x/*.rs"));
        check("a/{b,c}/d/*.rs", ("a/", "{b,c}/d/*.rs"));
        check("/w/src/*.rs", ("/w/src/", "*.rs"));
        check("a/[/]b", ("a/", "[/]b"));
    }

    #[test]
    fn what_is_no_pattern_or_type_is_refused() {
        let refused = Names::read(None, Some("a[b"), None).expect_err("a pattern");
        assert_eq!(refused.error_code, "INVALID_PATTERN");
        assert!(refused.output.contains("glob: 'a[b'"), "{refused:?}");
        let refused = Names::read(None, None, Some("rustt")).expect_err("a type");
        assert!(refused.output.contains("did you mean 'rust'"), "{refused:?}");
    }
}
