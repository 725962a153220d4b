//! Texts and tables that a terminal of 80 columns shows whole, and the table of a run's steps: what went in, what was shuffled, what came
//! out, how long and in how much memory.

use indicatif::HumanCount;
use twinsplit_core::visible;
use twinsplit_engine::progress::Done;

const HEADINGS: [&str; 7] = ["step", "rows in", "between", "rows out", "shuffled", "seconds", "memory"];

/// The columns of a terminal for which lines are made.
const WIDTH: usize = 80;

/// A text in lines of at most 80 columns, as far as its words allow, all but the first of which are indented.
pub fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut end) = (String::new(), indent);
    for word in text.split(' ') {
        let width = word.chars().count();
        if lines.is_empty() {
            end += width;
        } else if end + 1 + width <= WIDTH {
            lines.push(' ');
            end += 1 + width;
        } else {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            end = indent + width;
        }
        lines.push_str(word);
    }
    lines
}

/// The table, a line for each step; a dash where a step does not say. Rows of documents are their lines.
pub fn table(steps: &[Done]) -> String {
    let mut rows: Vec<[String; 7]> = vec![HEADINGS.map(str::to_owned)];
    rows.extend(steps.iter().map(row));
    aligned(&rows)
}

/// Rows as lines whose columns line up, the first one on the left and numbers on the right.
pub fn aligned<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| row.each_ref().map(|cell| visible::line(cell))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(step: &Done) -> [String; 7] {
    let counter = |names: &[&str]| names.iter().find_map(|name| step.counters.get(*name).copied());
    let shown = |number: Option<u64>, show: fn(u64) -> String| number.map_or("-".to_owned(), show);
    [
        step.name.clone(),
        shown(counter(&["map_records_in", "reduce_records_in"]), rows),
        shown(counter(&["reduce_records_in", "candidate_pairs"]), rows),
        shown(counter(&["reduce_records_out", "map_records_out"]), rows),
        shown(counter(&["reduce_bytes_in", "candidate_bytes", "spilled_bytes"]), bytes),
        format!("{:.2}", step.seconds),
        shown(counter(&["peak_memory"]), bytes),
    ]
}

/// A number in nine columns: all digits where they fit, else millions.
fn rows(number: u64) -> String {
    match number {
        0..10_000_000 => HumanCount(number).to_string(),
        _ => format!("{}M", HumanCount(number / 1_000_000)),
    }
}

/// Bytes in the units that options have.
fn bytes(number: u64) -> String {
    let units = [('G', 1u64 << 30), ('M', 1 << 20), ('K', 1 << 10)];
    match units.into_iter().find(|(_, size)| number >= *size) {
        Some((unit, size)) => format!("{:.1}{unit}", number as f64 / size as f64),
        None => format!("{number}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_line_that_steers_nothing() {
        let rows = [["a\u{1b}[2J\nb", "1"], ["c", "\u{202e}2"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "a\\x1b[2J\\x0ab          1\nc              \\u{202e}2\n");
    }

    #[test]
    fn columns_line_up() {
        let step = |name: &str, counters: &[(&str, u64)]| Done {
            name: name.to_owned(),
            seconds: 1.5,
            counters: counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        let map = [
            ("map_records_in", 12_345),
            ("map_bytes_in", 2048),
            ("map_records_out", 7),
            ("peak_memory", 1 << 20),
        ];
        let both = [("map_records_in", 7), ("reduce_records_in", 70), ("reduce_records_out", 3)];
        let text = table(&[
            step("tokenize", &map),
            step("equal-sets", &both),
            step("order", &[("reduce_records_in", 9)]),
            step("pcp-map", &[("candidate_pairs", 5), ("candidate_bytes", 1024), ("spilled_bytes", 0)]),
        ]);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["tokenize", "12,345", "-", "7", "-", "1.50", "1.0M"]);
        assert_eq!(lines[2], ["equal-sets", "7", "70", "3", "-", "1.50", "-"]);
        assert_eq!(lines[3], ["order", "9", "9", "-", "-", "1.50", "-"]);
        assert_eq!(lines[4], ["pcp-map", "-", "5", "-", "1.0K", "1.50", "-"]);
        let ends: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
    }

    /// The longest name of a step, and numbers of a collection that fills a disk.
    #[test]
    fn the_table_has_eighty_columns_at_most() {
        let counters =
            ["map_records_in", "reduce_records_in", "reduce_records_out"].map(|name| (name, 9_999_999));
        let many = counters.map(|(name, _)| (name, 999_999_999_999));
        let size = [("reduce_bytes_in", 1023 << 30), ("peak_memory", 1023 << 30)];
        for counters in [counters, many] {
            let step = Done {
                name: "equal-fingerprints".to_owned(),
                seconds: 99_999.5,
                counters: counters
                    .into_iter()
                    .chain(size)
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            };
            let text = table(&[step]);
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            assert!(text.contains("9,999,999") || text.contains("999,999M"), "{text}");
        }
    }

    #[test]
    fn a_text_is_wrapped_between_words() {
        let word = "x".repeat(39);
        assert_eq!(wrapped(&format!("{word} {word} {word}"), 0), format!("{word} {word}\n{word}"));
        assert_eq!(wrapped(&format!("{word} {word}"), 1), format!("{word} {word}"));
        assert_eq!(wrapped(&format!("{word} {word}"), 2), format!("{word}\n  {word}"));
        assert_eq!(wrapped(&"x".repeat(99), 3), "x".repeat(99));
    }
}
