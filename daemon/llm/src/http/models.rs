//! Lists of models.

use serde::Deserialize;

/// Most models that are listed.
pub(crate) const MAX_MODELS: usize = 200;
/// Most bytes of a list that are read; gateways list hundreds with long descriptions.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;
/// Most bytes of a name.
const MAX_NAME: usize = 256;

#[derive(Deserialize)]
struct List {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// The names in the order of the list; `None` when the body is no such list. Names that could not be
/// shown or typed are left out.
pub(crate) fn names(body: &[u8]) -> Option<Vec<String>> {
    let list: List = serde_json::from_slice(body).ok()?;
    let is_usable = |name: &String| {
        !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
    };
    Some(list.data.into_iter().map(|model| model.id).filter(is_usable).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usable_names_of_real_lists_are_read() {
        let check = |body: &str, expect: Option<&[&str]>| {
            let expect = expect.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            assert_eq!(names(body.as_bytes()), expect, "{body}");
        };
        check(r#"{"data":[{"id":"b"},{"id":"a","x":1}]}"#, Some(&["b", "a"]));
        check(r#"{"data":[{"id":""},{"id":"a\u001b"}]}"#, Some(&[]));
        check(r#"{"error":"x"}"#, None);
        check("<html>", None);
    }
}
