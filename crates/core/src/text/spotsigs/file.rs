//! Reading and printing SpotSigs settings as a file; the format is described in the parent module.

use std::fmt;

use super::{Antecedent, SpotSigs};
use crate::text::{Reason, TextError, whole_number};

const A_WORD: &str = "one word: no white space, and a letter or a number";

impl SpotSigs {
    /// Reads the text of a SpotSigs file; `name` is how messages and [`SpotSigs::name`] call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, TextError> {
        let mut settings = SpotSigs {
            name: name.to_string(),
            antecedents: Vec::new(),
            stop_words: Vec::new(),
            chain: 1,
            min: 1,
        };
        let mut seen = (false, false);
        // One line at a time, because a reader of the whole would give a row after comments their line.
        let lines = (1..).zip(text.lines()).filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
        for (line, text) in lines {
            let record = fields_of(text).map_err(|error| {
                TextError(Reason::Unreadable { file: name.to_string(), why: format!("line {line}: {error}") })
            })?;
            let row = Row { file: name, line, record: &record };
            match row.field(0) {
                "antecedent" => {
                    row.fields(3)?;
                    let word = row.word(1)?;
                    let distance = row.number(2, 1000, "a distance from 1 to 1000")?;
                    settings.antecedents.push(Antecedent { word, distance });
                }
                "stop" => {
                    row.fields(2)?;
                    settings.stop_words.push(row.word(1)?);
                }
                "chain" => {
                    row.once(&mut seen.0, "no second row chain")?;
                    settings.chain = row.number(1, 1000, "a chain length from 1 to 1000")?;
                }
                "min" => {
                    row.once(&mut seen.1, "no second row min")?;
                    settings.min = row.number(1, 1_000_000, "a number of spots from 1 to 1000000")?;
                }
                _ => return row.wrong(0, "antecedent, stop, chain or min"),
            }
        }
        if settings.antecedents.is_empty() {
            return Err(TextError(Reason::NoAntecedent { file: name.to_string() }));
        }
        Ok(settings)
    }

    /// The settings as the text of a file that [`SpotSigs::parse`] reads back.
    pub fn to_file_text(&self) -> String {
        self.to_string()
    }
}

/// The settings in the file format.
impl fmt::Display for SpotSigs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "chain\t{}\nmin\t{}", self.chain, self.min)?;
        for Antecedent { word, distance } in &self.antecedents {
            writeln!(f, "antecedent\t{word}\t{distance}")?;
        }
        self.stop_words.iter().try_for_each(|word| writeln!(f, "stop\t{word}"))
    }
}

fn fields_of(line: &str) -> Result<csv::StringRecord, csv::Error> {
    let mut record = csv::StringRecord::new();
    csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(b'\t')
        .terminator(csv::Terminator::Any(b'\n'))
        .quoting(false)
        .from_reader(line.as_bytes())
        .read_record(&mut record)?;
    Ok(record)
}

/// A row being read, with what its errors need. Fields count from 0 here and from 1 in messages.
struct Row<'a> {
    file: &'a str,
    line: u64,
    record: &'a csv::StringRecord,
}

impl Row<'_> {
    fn field(&self, i: usize) -> &str {
        self.record.get(i).unwrap_or("")
    }

    fn wrong<T>(&self, i: usize, expected: &'static str) -> Result<T, TextError> {
        Err(TextError(Reason::Row {
            file: self.file.to_string(),
            line: self.line,
            field: i + 1,
            expected,
            found: self.field(i).to_string(),
        }))
    }

    /// Refuses more fields than `n`; a missing one is found when it is read.
    fn fields(&self, n: usize) -> Result<(), TextError> {
        if self.record.len() > n { self.wrong(n, "no further field") } else { Ok(()) }
    }

    fn once(&self, seen: &mut bool, expected: &'static str) -> Result<(), TextError> {
        if std::mem::replace(seen, true) {
            return self.wrong(0, expected);
        }
        self.fields(2)
    }

    fn word(&self, i: usize) -> Result<String, TextError> {
        let word = self.field(i);
        if word.contains(char::is_whitespace) || !word.contains(char::is_alphanumeric) {
            return self.wrong(i, A_WORD);
        }
        Ok(word.to_string())
    }

    fn number(&self, i: usize, most: u32, expected: &'static str) -> Result<u32, TextError> {
        match whole_number(self.field(i)) {
            Some(n) if (1..=most).contains(&n) => Ok(n),
            _ => self.wrong(i, expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        SpotSigs::parse("my.tsv", text).expect_err("a bad file").to_string()
    }

    #[test]
    fn every_preset_prints_and_reads_back() {
        for preset in [SpotSigs::released(), SpotSigs::chinese()] {
            let read = SpotSigs::parse(preset.name(), &preset.to_file_text()).expect("a printed preset");
            assert_eq!(read, preset);
        }
    }

    #[test]
    fn comments_blank_lines_and_defaults() {
        let s = SpotSigs::parse("x", "# c\r\n\nantecedent\tthe\t2\r\nstop\t\"of\n#end").expect("a good file");
        assert_eq!((s.chain(), s.min_features(), s.name()), (1, 1, "x"));
        assert_eq!(s.antecedents(), [Antecedent { word: "the".into(), distance: 2 }]);
        assert_eq!(s.stop_words(), ["\"of"]);
    }

    #[test]
    fn errors_name_line_and_field() {
        assert_eq!(
            message("# c\n\nantecedent\tthe\t0\n"),
            "my.tsv, line 3, field 3: expected a distance from 1 to 1000, found \"0\""
        );
        assert_eq!(
            message("antecedent\tthe\n"),
            "my.tsv, line 1, field 3: expected a distance from 1 to 1000, found \"\""
        );
        assert_eq!(
            message("antecedent\tof the\t1\n"),
            "my.tsv, line 1, field 2: expected one word: no white space, and a letter or a number, found \"of the\""
        );
        assert_eq!(
            message("stop\tof\t1\n"),
            "my.tsv, line 1, field 3: expected no further field, found \"1\""
        );
        assert_eq!(
            message("Stop\tof\n"),
            "my.tsv, line 1, field 1: expected antecedent, stop, chain or min, found \"Stop\""
        );
        assert_eq!(
            message("chain\t2\n\nchain\t2\n"),
            "my.tsv, line 3, field 1: expected no second row chain, found \"chain\""
        );
        assert_eq!(
            message("min\t-1\n"),
            "my.tsv, line 1, field 2: expected a number of spots from 1 to 1000000, found \"-1\""
        );
        assert_eq!(
            message("stop\tof\n"),
            "my.tsv: expected at least one row antecedent⇥word⇥distance, found none"
        );
    }
}
