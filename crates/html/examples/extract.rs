//! Extracts the text of pages, and says how many seconds of the processor that took, the median of some rounds (on Linux).
//!
//! ```text
//! extract visible|article ROUNDS FOLDER
//! ```
//!
//! The pages are all files in the folder, whose names end in `.html`; the text of each is written beside it, with the ending `.txt`. Pages are
//! read before, and texts written behind what is measured.

use std::error::Error;
use std::fs;
use twinsplit_html::{Wanted, article, visible};

/// The seconds that this thread has been running, as the kernel counts them.
fn seconds_so_far() -> Result<f64, Box<dyn Error>> {
    let counted = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = counted.split_whitespace().next().ok_or("an empty schedstat")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [which, rounds, folder] = given.as_slice() else {
        return Err("extract visible|article ROUNDS FOLDER".into());
    };
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "html") {
            pages.push((String::from_utf8_lossy(&fs::read(&path)?).into_owned(), path));
        }
    }
    let text = match which.as_str() {
        "visible" => visible,
        "article" => article,
        other => return Err(format!("{other}: visible or article is expected").into()),
    };
    let (mut texts, mut seconds) = (Vec::new(), Vec::new());
    for _ in 0..rounds.parse()? {
        let start = seconds_so_far()?;
        texts = pages.iter().map(|(page, _)| text(page, Wanted::default()).0).collect();
        seconds.push(seconds_so_far()? - start);
    }
    for ((_, path), text) in pages.iter().zip(&texts) {
        fs::write(path.with_extension("txt"), text)?;
    }
    seconds.sort_by(f64::total_cmp);
    println!("{}", seconds.get(seconds.len() / 2).ok_or("no round")?);
    Ok(())
}
