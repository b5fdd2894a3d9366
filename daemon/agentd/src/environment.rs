//! The environment of the process, as a value: tests bring their own, and it cannot print its secrets.

use std::collections::HashMap;
use std::fmt;

/// Variables by name. `Debug` shows names only.
#[derive(Clone, Default)]
pub struct Environment(HashMap<String, String>);

impl Environment {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// That of this process. Variables that are not Unicode cannot be ours and are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// A variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.0.keys().collect();
        names.sort_unstable();
        f.debug_tuple("Environment").field(&names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sc_03_the_environment_does_not_print_its_values() {
        let env: Environment =
            [("OPENAI_API_KEY".to_owned(), "sk-secret".to_owned())].into_iter().collect();
        assert_eq!(format!("{env:?}"), r#"Environment(["OPENAI_API_KEY"])"#);
        assert_eq!(env.get("OPENAI_API_KEY"), Some("sk-secret"));
    }
}
