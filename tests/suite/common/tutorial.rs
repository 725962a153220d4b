//! Tutorials whose commands are run as they stand there.

use super::cli::Said;

/// Runs each block of a page that is marked `sh` and looks for each line of those marked `text` in what the block before
/// printed; gives how many blocks it ran and lines it found. Other blocks are for the reader.
#[track_caller]
pub fn follow(page: &str, mut run: impl FnMut(&str) -> Said) -> (usize, usize) {
    let (mut blocks, mut compared, mut shown) = (0, 0, Vec::<String>::new());
    for (number, block) in page.split("```").enumerate().filter(|(number, _)| number % 2 == 1) {
        let (kind, body) = block.split_once('\n').expect("a kind");
        if kind == "sh" {
            let said = run(body);
            assert_eq!(said.code, 0, "block {number}:\n{body}\n{}{}", said.out, said.err);
            shown = said.out.lines().map(str::to_owned).collect();
            blocks += 1;
        } else if kind == "text" {
            for line in body.lines() {
                // A line that goes on is cut with an ellipsis.
                let found = shown.iter().any(|shown| match line.strip_suffix(" …") {
                    Some(start) => shown.starts_with(start),
                    None => shown == line,
                });
                assert!(found, "{line:?} was not printed, but: {shown:#?}");
                compared += 1;
            }
        }
    }
    (blocks, compared)
}
