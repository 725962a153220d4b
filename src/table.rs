//! Tables for people, and that of a run's steps: what went in, what was shuffled, what came out, how long and in how
//! much memory.

use indicatif::{BinaryBytes, HumanCount};
use twinsplit_core::visible;
use twinsplit_engine::progress::Done;

const HEADINGS: [&str; 9] = [
    "step",
    "rows in",
    "bytes in",
    "rows between",
    "bytes between",
    "rows out",
    "bytes out",
    "seconds",
    "memory",
];

/// The table, a line for each step; a dash where a step does not say. Rows of documents are their lines.
pub fn table(steps: &[Done]) -> String {
    let mut rows: Vec<[String; 9]> = vec![HEADINGS.map(str::to_owned)];
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

fn row(step: &Done) -> [String; 9] {
    let counter = |names: &[&str]| names.iter().find_map(|name| step.counters.get(*name).copied());
    let rows = |number: Option<u64>| number.map_or("-".to_owned(), |number| HumanCount(number).to_string());
    let bytes = |number: Option<u64>| number.map_or("-".to_owned(), |number| BinaryBytes(number).to_string());
    [
        step.name.clone(),
        rows(counter(&["map_records_in", "reduce_records_in"])),
        bytes(counter(&["map_bytes_in", "reduce_bytes_in"])),
        rows(counter(&["reduce_records_in", "candidate_pairs"])),
        bytes(counter(&["reduce_bytes_in", "candidate_bytes", "spilled_bytes"])),
        rows(counter(&["reduce_records_out", "map_records_out"])),
        bytes(counter(&["reduce_bytes_out", "map_bytes_out"])),
        format!("{:.2}", step.seconds),
        bytes(counter(&["peak_memory"])),
    ]
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
        assert_eq!(
            lines[1],
            ["tokenize", "12,345", "2.00", "KiB", "-", "-", "7", "-", "1.50", "1.00", "MiB"]
        );
        assert_eq!(lines[2], ["equal-sets", "7", "-", "70", "-", "3", "-", "1.50", "-"]);
        assert_eq!(lines[3], ["order", "9", "-", "9", "-", "-", "-", "1.50", "-"]);
        assert_eq!(lines[4], ["pcp-map", "-", "-", "5", "1.00", "KiB", "-", "-", "1.50", "-"]);
        let ends: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
    }
}
