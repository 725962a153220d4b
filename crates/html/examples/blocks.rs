//! Prints the blocks of pages, a line each: the page, the features of the block, its text. The pages are the files whose names stand on
//! standard input.

use std::io::{BufRead, BufWriter, Write};
use twinsplit_html::learn::{NAMES, examples};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "page\t{}\ttext", NAMES.join("\t"))?;
    for name in std::io::stdin().lock().lines() {
        let name = name?;
        let page = std::fs::read(&name)?;
        for block in examples(&String::from_utf8_lossy(&page)) {
            let features: Vec<String> = block.features.iter().map(i32::to_string).collect();
            let text = block.text.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(out, "{name}\t{}\t{text}", features.join("\t"))?;
        }
    }
    out.flush()
}
