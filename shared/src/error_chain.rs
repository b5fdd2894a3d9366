//! An error and its causes as text.

use std::error::Error;

/// Joins an error and its sources into one line.
pub fn chain(error: &dyn Error) -> String {
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

/// What an error comes from, for a client that shows the error itself and its remedy apart; empty when
/// nothing is known.
pub fn why(error: &dyn Error) -> String {
    let Some(source) = error.source() else { return String::new() };
    #[cfg(feature = "connect")]
    if let Some(refused) = source.downcast_ref::<crate::RpcError>() {
        return refused.why();
    }
    chain(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::io::Error);

    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("cannot read the file")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_chain_names_each_cause_once() {
        let error = Outer(std::io::Error::other("disk gone"));
        assert_eq!(chain(&error), "cannot read the file: disk gone");
        assert_eq!(why(&error), "disk gone");
        assert_eq!(why(&error.0), "");
    }
}
