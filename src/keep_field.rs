//! Before a run: whether the options name the field that the keep rule looks at.

use std::path::PathBuf;
use twinsplit_io::error::Result;
use twinsplit_io::{Blocks, each_line, expand_inputs};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::document::DocumentOpts;
use twinsplit_rows::stages::keep_field::{KeepField, fields_of};

/// Refuses a keep rule whose field no option names. Gives what messages say of the fields that there are: those of the
/// first line of the inputs, which are read again later; nothing where no rule asks.
pub fn check(params: &Params, inputs: &[PathBuf]) -> Result<String> {
    let Some(field) = params.get("keep").and_then(KeepField::named) else { return Ok(String::new()) };
    let opts: DocumentOpts = params.parse()?;
    let mut blocks = Blocks::new(expand_inputs(inputs)?, FIRST).of_documents(opts.max_line);
    let mut first = String::new();
    while let (true, Some(block)) = (first.is_empty(), blocks.next_block()?) {
        each_line(&block, |line, place| {
            if first.is_empty() {
                first = fields_of(place, line);
            }
            Ok(())
        })?;
    }
    match field.name(&opts) {
        Some(_) => Ok(first),
        None => Err(field.unnamed(&first)),
    }
}

/// Bytes that are read at a time.
const FIRST: usize = 64 << 10;
