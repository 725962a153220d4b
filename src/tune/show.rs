//! What was found, for people: the counts, then the pairs at the edge of each threshold, then what to do next.

use super::Report;
use super::measure::{Example, Measured, Row};
use super::threshold::{Kind, Threshold};
use std::fmt::Write;
use twinsplit_core::visible;
use twinsplit_rows::stages::options::{FEATURES, TAU};
use unicode_width::UnicodeWidthStr;

/// Columns that a line with two ids may take; longer ids get lines of their own.
const COLUMNS: usize = 100;

/// The whole text.
pub fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    sample(report, &mut out);
    table(report, &mut out);
    let shown = |row: &Row| !row.above.is_empty() || !row.below.is_empty();
    if report.kinds.iter().flat_map(|kind| &kind.rows).any(shown) {
        let [accepted, others] = report.compared.sides();
        let _ = writeln!(
            out,
            "\nPAIRS AT THE EDGE\n\n\
             The pairs nearest to each {}. It fits if you call those {accepted} it copies, and those {others} not.\n\
             {}; ^ marks where the texts first differ.",
            report.compared.option(),
            report.compared.example()
        );
        let kinds = report.kinds.iter().filter(|kind| takes_part(report, kind));
        kinds.for_each(|kind| edges(kind, report.compared, &mut out));
    }
    next(report, &mut out);
    out
}

/// How the sample was taken, and what it cannot show.
fn sample(report: &Report<'_>, out: &mut String) {
    let _ = writeln!(out, "{}", report.compared.sentence());
    let (sample, seed) = (report.sample, report.seed);
    let (ours, all) = (sample.lines.len() as u64, sample.documents);
    if sample.is_whole() {
        let _ = writeln!(out, "Sample: all {}, so nothing is estimated.", documents(all));
        return;
    }
    let _ = writeln!(
        out,
        "Sample: {} of {} ({:.2} %), those with the smallest hash of the seed {seed} and the id,\n\
         whatever the order of the input. What is counted in it is exact.",
        grouped(ours.into()),
        documents(all),
        100.0 * ours as f64 / all as f64,
    );
    match sample.pairs_for_one() {
        Some((all, ours)) => {
            let _ = writeln!(
                out,
                "A pair is in the sample only if both documents are: one pair in {}, about the square of the share.\n\
                 So the pairs of the whole input are estimated as that many times those of the sample; few pairs\n\
                 make a rough estimate.",
                one_in(all, ours)
            );
        }
        None => {
            out.push_str("A pair takes two documents, so nothing can be estimated; take a larger --sample.\n")
        }
    }
    out.push_str(
        "Clusters do not extrapolate: in the whole input they have members that the sample lacks, and join\n\
         through them. Clusters, documents to drop and the largest cluster are the sample's alone.\n",
    );
    if report.compared == Kind::Fingerprints
        && report.params.get("weights").is_some_and(|of| of == "tf-idf" || of == "levels")
    {
        out.push_str(
            "Document frequencies for --weights are the sample's, unless a table or jieba gives them.\n",
        );
    }
    if report.params.get("idf").is_some() && report.params.get("idf-table").is_none() {
        out.push_str(
            "Document frequencies for --idf are the sample's too; --idf-table takes those of a collection.\n",
        );
    }
}

/// How many `all` are for one of `ours`: with a decimal where it matters.
fn one_in(all: u128, ours: u128) -> String {
    let tenths = (20 * all + ours) / (2 * ours);
    if tenths < 1_000 { format!("{}.{}", tenths / 10, tenths % 10) } else { grouped((tenths + 5) / 10) }
}

/// Whether any document has enough features.
fn takes_part(report: &Report<'_>, kind: &Measured) -> bool {
    kind.left_out < report.sample.lines.len() as u64
}

/// The counts of all kinds, in columns of one width.
fn table(report: &Report<'_>, out: &mut String) {
    let estimated = !report.sample.is_whole();
    let mut head = vec![report.compared.option(), "pairs"];
    if estimated {
        head.push("estimated in all");
    }
    head.extend(["clusters", "to drop", "largest cluster"]);
    let cells = |row: &Row| {
        let mut cells = vec![row.at.shown(), grouped(row.pairs.into())];
        if estimated {
            cells.push(report.sample.estimate(row.pairs).map_or_else(|| "-".to_owned(), grouped));
        }
        cells.extend([row.clusters, row.dropped, row.largest].map(|count| grouped(count.into())));
        cells
    };
    let rows: Vec<Vec<Vec<String>>> =
        report.kinds.iter().map(|kind| kind.rows.iter().map(cells).collect()).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().flatten().map(|row| row[at].len()).chain([head[at].len()]).max().unwrap_or(0))
        .collect();
    let line = |cells: &[&str], out: &mut String| {
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    };
    for (kind, rows) in report.kinds.iter().zip(&rows) {
        let name = visible::line(&kind.kind);
        if !takes_part(report, kind) {
            let least =
                if kind.least == 1 { "a feature".to_owned() } else { format!("{} features", kind.least) };
            let _ = writeln!(
                out,
                "\n{name}: no document has {least}, so nothing pairs; this kind is not for these texts"
            );
            continue;
        }
        let _ = writeln!(out, "\n{name}: {}", left_out(kind, report.sample.lines.len() as u64));
        line(&head, out);
        rows.iter().for_each(|row| line(&row.iter().map(String::as_str).collect::<Vec<_>>(), out));
    }
}

/// Which documents take no part.
fn left_out(kind: &Measured, of: u64) -> String {
    let more = kind.left_out - kind.without;
    let mut text = match kind.without {
        0 => "all documents have features".to_owned(),
        without => format!("{} of {} without features", grouped(without.into()), documents(of)),
    };
    if more > 0 {
        let _ = write!(text, ", {} with fewer than {}", grouped(more.into()), kind.least);
    }
    if kind.left_out > 0 {
        text.push_str(", which pair with nothing");
    }
    if kind.equal_texts > 0 {
        let _ = write!(text, "; {} of them copies by equal texts", grouped(kind.equal_texts.into()));
    }
    text
}

fn edges(kind: &Measured, compared: Kind, out: &mut String) {
    let [accepted, others] = compared.sides();
    for row in &kind.rows {
        let (option, at, floor) = (compared.option(), row.at.shown(), kind.floor.shown());
        let _ = writeln!(out, "\n{}, {option} {at}", visible::line(&kind.kind));
        let (no_pair, none) = match compared {
            Kind::Sets(_) => (format!("no pair reaches {at}"), format!("no pair from {floor} to {at}")),
            Kind::Fingerprints => {
                (format!("no pair is within {at}"), format!("no pair beyond {at}, and up to {floor}"))
            }
        };
        side(accepted, compared, &row.above, &no_pair, out);
        side(others, compared, &row.below, &none, out);
    }
}

fn side(name: &str, compared: Kind, examples: &[Example], none: &str, out: &mut String) {
    if examples.is_empty() {
        let _ = writeln!(out, "  {name:<11}  {none}");
    }
    for pair in examples {
        let ids = [&pair.a, &pair.b].map(|id| visible::line(id));
        let head = format!("  {name:<11}  {}", compared.numbers(pair.numbers));
        let one = format!("{head}  {}  {}", ids[0], ids[1]);
        if one.width() <= COLUMNS {
            let _ = writeln!(out, "{one}");
        } else {
            let _ = writeln!(out, "{head}\n    {}\n    {}", ids[0], ids[1]);
        }
        let _ = writeln!(out, "      {}", pair.difference.a);
        match pair.difference.column {
            Some(column) => {
                let _ = writeln!(out, "      {}\n      {:column$}^", pair.difference.b, "");
            }
            None => out.push_str("      (the other text is the same but for white space)\n"),
        }
    }
}

/// The command that uses a row.
fn next(report: &Report<'_>, out: &mut String) {
    let kind = report.kinds.iter().find(|kind| kind.kind == FEATURES).or(report.kinds.first());
    let Some(kind) = kind else { return };
    let usual = |at: Threshold| match report.compared {
        Kind::Sets(_) => at.shown() == TAU,
        Kind::Fingerprints => at == Threshold::Distance(3),
    };
    let middle = kind.rows.get(kind.rows.len() / 2);
    let Some(row) = kind.rows.iter().find(|row| usual(row.at)).or(middle) else { return };
    let _ = writeln!(
        out,
        "\nNEXT\n\nRun the whole input with the features and the {} that you choose; for {} and {}:\n\n  {}",
        report.compared.option(),
        visible::line(&kind.kind),
        row.at.shown(),
        report.command(&kind.kind, row.at)
    );
}

/// A number of documents.
fn documents(number: u64) -> String {
    if number == 1 { "1 document".to_owned() } else { format!("{} documents", grouped(number.into())) }
}

/// A number with commas between thousands.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn shares_of_pairs_are_rounded_to_what_matters() {
        for (all, ours, shown) in
            [(1, 1, "1.0"), (20, 6, "3.3"), (9_996, 100, "100"), (1_000_049, 10, "100,005")]
        {
            assert_eq!(one_in(all, ours), shown);
        }
    }
}
