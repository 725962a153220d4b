//! Cells of tables of text.

use super::Cell;
use std::io;

/// The cells of a row parted by a delimiter, quoted where they must be, with a delimiter before the first one and without a line end.
/// A cell without a value has nothing.
///
/// # Errors
/// None that a row in memory has.
pub fn cells(cells: &[Cell<'_>], delimiter: u8) -> io::Result<String> {
    let mut row = csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(vec![delimiter]);
    for cell in cells {
        match cell {
            Cell::Missing => row.write_field(""),
            Cell::Text(text) | Cell::Share(text) => row.write_field(text.as_bytes()),
            Cell::Whole(number) => row.write_field(number.to_string()),
            Cell::Is(is) => row.write_field(is.to_string()),
        }
        .map_err(io::Error::other)?;
    }
    let row = row.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(row).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A reader of tables finds them again, whatever stands in them.
        #[test]
        fn cells_are_read_as_they_were_written(texts in proptest::collection::vec(any::<String>(), 1..4), delimiter in prop_oneof![Just(b','), Just(b'\t'), Just(b'|')]) {
            let all: Vec<_> = texts.iter().map(|text| Cell::Text(text.into())).chain([Cell::Missing, Cell::Is(true)]).collect();
            let row = format!("before{}", cells(&all, delimiter).unwrap());
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(row.as_bytes());
            let read = reader.records().next().unwrap().unwrap();
            let expected = ["before"].into_iter().chain(texts.iter().map(String::as_str)).chain(["", "true"]);
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
