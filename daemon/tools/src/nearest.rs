//! The names that a wrong name may have meant.

/// At most `limit` of `candidates` that are close to `name`, the closest first.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    // A third of the letters may differ, and at least two.
    let allowed = (wanted.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase());
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
}

/// "; did you mean 'a' or 'b'?", or nothing when nothing is near.
pub(crate) fn did_you_mean(near: &[&str]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
    format!("; did you mean {}?", quoted.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested_and_far_ones_are_not() {
        let check = |name: &str, expect: &[&str]| {
            let names = ["calculator", "list_dir", "read_file", "time"];
            assert_eq!(nearest(name, names, 2), expect, "{name}");
        };
        check("readfile", &["read_file"]);
        check("Read_File", &["read_file"]);
        check("calcluator", &["calculator"]);
        check("shell", &[]);
        check("", &[]);
    }
}
