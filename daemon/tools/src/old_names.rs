//! Names that tools have elsewhere, and what a call by one of them means here.
//!
//! Models know tools of other agents and call them by habit. Where a tool here does the same, the
//! call is taken as one of that tool, with its arguments renamed; where the arguments say something
//! that this tool cannot do, or where there is no such tool, the model reads what to do instead.
//! A name whose arguments are the same is an alias of the tool itself (`About::aliases`).
//!
//! Reading order: `table` (the names), `shapes` (arguments that are put together anew), `fields`
//! (arguments that only have another name).

mod fields;
mod shapes;
mod table;

use std::borrow::Cow;

use agentd_domain::ToolSpec;
use serde_json::{Map, Value};

use crate::arguments;
use table::OLD_NAMES;

/// What a name means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meaning {
    /// This tool.
    Is(&'static str),
    /// A tool that depends on the arguments, which are put into its form.
    ///
    /// The error says what to do instead.
    Depends(Shape),
    /// No tool: what to do instead.
    Nothing(&'static str),
}

/// Puts arguments into the form of the tool that it returns.
pub(crate) type Shape = fn(&mut Map<String, Value>) -> Result<&'static str, String>;

/// What an old name means.
pub(crate) fn meaning(name: &str) -> Option<Meaning> {
    OLD_NAMES.iter().find(|(old, _)| *old == name).map(|(_, meaning)| *meaning)
}

/// True for a name that is not a tool's or an alias of one.
#[cfg(test)]
pub(crate) fn is_old(name: &str) -> bool {
    meaning(name).is_some()
}

/// Arguments of a tool by the names that they have here. What cannot be read stays as it is, to be
/// refused.
pub(crate) fn renamed<'a>(spec: &ToolSpec, arguments_json: Cow<'a, str>) -> Cow<'a, str> {
    if !fields::concerns(&spec.name, &arguments_json) {
        return arguments_json;
    }
    let Ok(mut arguments) = arguments::fields(&arguments_json) else { return arguments_json };
    fields::rename(&spec.name, &spec.parameters, &mut arguments);
    if spec.name == "edit_file" && !arguments.contains_key("edits") {
        shapes::one_edit(&mut arguments);
    }
    Cow::Owned(Value::Object(arguments).to_string())
}

#[cfg(test)]
mod tests;
