//! Looks at the tables of a model before they are used: the library trusts them.

use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::StaticModelError;
use super::files::in_one_line;
use crate::MAX_DIMENSIONS;

/// What the table of vectors may be called, as model2vec, sentence-transformers and others have it.
const VECTORS: [&str; 3] = ["embeddings", "0", "embedding.weight"];
/// How much a token counts; not all models have it.
const WEIGHTS: &str = "weights";
/// Which row of the table a token has; not all models have it.
const MAPPING: &str = "mapping";

/// Checks what stands in a file, for tokens up to `last_token`. The length of its vectors.
pub(super) fn check(file: &Path, bytes: &[u8], last_token: u32) -> Result<usize, StaticModelError> {
    let bad = |detail: String| StaticModelError::Tables { file: file.to_owned(), detail };
    let tensors =
        SafeTensors::deserialize(bytes).map_err(|error| bad(in_one_line(&error.to_string())))?;
    let found = VECTORS.iter().find_map(|name| Some((*name, tensors.tensor(name).ok()?)));
    let (name, vectors) =
        found.ok_or_else(|| bad(format!("it has no tensor '{}'", VECTORS.join("' or '"))))?;
    let [rows, length] = vectors.shape() else {
        return Err(bad(format!("'{name}' is no table")));
    };
    if !(1..=MAX_DIMENSIONS).contains(length) {
        let problem = format!("vectors of {length} numbers; 1 to {MAX_DIMENSIONS} are taken");
        return Err(bad(problem));
    }
    let not_finite = |tensor: &str| StaticModelError::NotFinite {
        file: file.to_owned(),
        tensor: tensor.to_owned(),
    };
    let numbers = |tensor: &TensorView<'_>, name: &str, kinds: &[Dtype]| {
        if !kinds.contains(&tensor.dtype()) {
            let kinds: Vec<String> = kinds.iter().map(|kind| format!("{kind:?}")).collect();
            let (is, kinds) = (tensor.dtype(), kinds.join(", "));
            return Err(bad(format!(
                "'{name}' has numbers of the type {is:?}, not one of {kinds}"
            )));
        }
        if is_finite(tensor) { Ok(()) } else { Err(not_finite(name)) }
    };
    numbers(&vectors, name, &[Dtype::F32, Dtype::F16, Dtype::I8])?;
    if let Ok(weights) = tensors.tensor(WEIGHTS) {
        numbers(&weights, WEIGHTS, &[Dtype::F64, Dtype::F32, Dtype::F16])?;
    }
    let mapping = match tensors.tensor(MAPPING) {
        Ok(mapping) => {
            numbers(&mapping, MAPPING, &[Dtype::I64, Dtype::I32])?;
            rows_of(&mapping)
        }
        Err(_no_mapping) => Vec::new(),
    };
    if let Some(row) = mapping.iter().find(|row| row.is_none_or(|row| row >= *rows)) {
        let row = row.map_or_else(|| "below 0".to_owned(), |row| row.to_string());
        return Err(bad(format!("'{MAPPING}' names the row {row}, of {rows}")));
    }
    // A token that is not in the mapping has the row of its own number.
    let token = usize::try_from(last_token).unwrap_or(usize::MAX);
    if token >= mapping.len() && token >= *rows {
        return Err(StaticModelError::Tokens { file: file.to_owned(), rows: *rows, token });
    }
    Ok(*length)
}

/// True when all its numbers are numbers.
fn is_finite(tensor: &TensorView<'_>) -> bool {
    let bytes = tensor.data();
    match tensor.dtype() {
        Dtype::F64 => {
            bytes.as_chunks().0.iter().all(|number| f64::from_le_bytes(*number).is_finite())
        }
        Dtype::F32 => {
            bytes.as_chunks().0.iter().all(|number| f32::from_le_bytes(*number).is_finite())
        }
        // All bits of the exponent: infinite, or no number.
        Dtype::F16 => {
            bytes.as_chunks().0.iter().all(|number| u16::from_le_bytes(*number) & 0x7c00 != 0x7c00)
        }
        _ => true,
    }
}

/// The rows that a mapping names; none for one below 0.
fn rows_of(mapping: &TensorView<'_>) -> Vec<Option<usize>> {
    let bytes = mapping.data();
    if mapping.dtype() == Dtype::I64 {
        let rows = bytes.as_chunks().0.iter().map(|row| i64::from_le_bytes(*row));
        return rows.map(|row| usize::try_from(row).ok()).collect();
    }
    let rows = bytes.as_chunks().0.iter().map(|row| i32::from_le_bytes(*row));
    rows.map(|row| usize::try_from(row).ok()).collect()
}
