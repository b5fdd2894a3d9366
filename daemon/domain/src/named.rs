//! Names for the values of an enum, as users write them in commands and configuration.

/// Gives a plain enum `NAMES`, `name()`, `is_default()`, `Display` and `FromStr`.
macro_rules! named {
    ($type:ident, $what:literal, $($name:literal => $value:ident,)+) => {
        impl $type {
            /// All of them, as users write them.
            pub const NAMES: &[&str] = &[$($name),+];

            /// As users write it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }

            /// True for what is meant when nothing is said.
            pub fn is_default(&self) -> bool {
                *self == Self::default()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            /// # Errors
            /// What the names are.
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok(Self::$value),)+
                    _ => Err(format!(
                        "'{}' is no {}; use one of {}",
                        crate::cut_line(text, 40), $what, Self::NAMES.join(", ")
                    )),
                }
            }
        }
    };
}

pub(crate) use named;
