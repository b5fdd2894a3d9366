//! An error and its causes as one text.

/// Joins an error and its sources into one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let cause = source.to_string().trim_end().to_owned();
        // Many errors already print their source.
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_names_each_cause_once() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("cannot read the file")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = Outer(std::io::Error::other("disk gone"));
        assert_eq!(chain(&error), "cannot read the file: disk gone");
    }
}
