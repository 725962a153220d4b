//! A program of `make bench-hamming`: twinsplit, or one of the libraries in Rust beside it.
//!
//!     bench-hamming data KIND COUNT QUERIES FOLDER     writes fingerprints and queries, eight bytes each
//!     bench-hamming serve PROGRAM FOLDER               builds an index of them; for each line `go` asks all queries, for `pairs` prints what is found
//!     bench-hamming join KIND COUNT MEGABYTES [FOLDER] finds all pairs within distance 3 on two threads, and says how long it took
//!     bench-hamming large COUNT MEGABYTES THREADS [FOLDER BUILD]
//!                                                      builds an index of so many random fingerprints, and compares it with what is planted and a scan
//!
//! With a folder fingerprints are sorted in its temporary files, and not held; an index is built in BUILD megabytes and written there. `serve` answers in lines `name⇥value…`. ../run.py calls it, and has the programs take turns.

#[path = "../../common/fingerprints.rs"]
mod fingerprints;
mod large;
mod programs;
mod resident;

use fingerprints::{Drawn, Kind, queries};
use std::error::Error;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;
use std::time::Instant;
use twinsplit::hamming::{JoinOptions, Sorter, SorterOptions, join};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["data", kind, count, queries, folder] => {
            let kind = Kind::of(kind).ok_or("the kind is random or skewed")?;
            data(kind, count.parse()?, queries.parse()?, folder.as_ref())
        }
        ["serve", program, folder] => serve(program, folder.as_ref()),
        ["join", kind, count, megabytes, ref folder @ ..] if folder.len() < 2 => {
            let kind = Kind::of(kind).ok_or("the kind is random or skewed")?;
            self_join(kind, count.parse()?, megabytes.parse()?, folder.first().map(Path::new))
        }
        ["large", count, megabytes, threads] => large::run(count.parse()?, megabytes.parse()?, threads.parse()?, None),
        ["large", count, megabytes, threads, folder, build] => {
            large::run(count.parse()?, megabytes.parse()?, threads.parse()?, Some((folder.as_ref(), build.parse()?)))
        }
        _ => Err("usage: bench-hamming data KIND COUNT QUERIES FOLDER, serve PROGRAM FOLDER, join KIND COUNT MEGABYTES, or large COUNT MEGABYTES THREADS; see benches/hamming/src/main.rs".into()),
    }
}

fn data(kind: Kind, count: usize, asked: usize, folder: &Path) -> Result<()> {
    let values: Vec<u64> = Drawn::new(kind, 64, 2).take(count).map(|value| value as u64).collect();
    write(&folder.join("fingerprints"), &values)?;
    let queries: Vec<u64> = queries(&values, asked, kind, 64).into_iter().map(|value| value as u64).collect();
    write(&folder.join("queries"), &queries)
}

fn self_join(kind: Kind, count: usize, megabytes: usize, folder: Option<&Path>) -> Result<()> {
    let drawn = Drawn::new(kind, 64, 2).take(count).map(|value| value as u64);
    let (threads, memory, mut pairs) = (2, megabytes << 20, 0_u64);
    let count_pair = |_, _, _| {
        pairs += 1;
        Ok(())
    };
    let mut start = Instant::now();
    if let Some(folder) = folder {
        let mut sorter = Sorter::new(SorterOptions { folder: folder.to_owned(), memory, threads });
        for value in drawn {
            sorter.push(value)?;
        }
        let sorted = sorter.finish()?;
        println!("drawn and sorted in {:.1} s", start.elapsed().as_secs_f64());
        sorted.join(3, count_pair)?;
    } else {
        let values: Vec<u64> = drawn.collect();
        start = Instant::now();
        join(&values, JoinOptions { distance: 3, threads, memory }, count_pair)?;
    }
    println!("{:.1} s, {pairs} pairs, at most {} MB", start.elapsed().as_secs_f64(), resident::peak()? >> 20);
    Ok(())
}

fn write(path: &Path, values: &[u64]) -> Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))?;
    Ok(file.flush()?)
}

fn read(path: &Path) -> Result<Vec<u64>> {
    let mut file = std::fs::File::open(path)?;
    let mut values = vec![0; file.metadata()?.len() as usize / 8];
    let mut eight = std::io::BufReader::with_capacity(1 << 20, &mut file);
    for value in &mut values {
        let mut bytes = [0; 8];
        std::io::Read::read_exact(&mut eight, &mut bytes)?;
        *value = u64::from_le_bytes(bytes);
    }
    Ok(values)
}

fn serve(program: &str, folder: &Path) -> Result<()> {
    let queries = read(&folder.join("queries"))?;
    let before = resident::bytes()?;
    let values = read(&folder.join("fingerprints"))?;
    let start = Instant::now();
    let mut index = programs::build(program, values)?;
    let seconds = start.elapsed().as_secs_f64();
    // What is left of the fingerprints counts where a program needs them to answer.
    let held = resident::bytes()?.saturating_sub(before);
    let mut out = std::io::stdout().lock();
    writeln!(out, "built\t{seconds:.3}\t{held}\t{}", index.parameters())?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (what, most) = line.split_once(' ').unwrap_or((&line, ""));
        let asked = &queries[..most.parse().unwrap_or(queries.len()).min(queries.len())];
        if what == "pairs" {
            let mut pairs = Vec::new();
            index.search(asked, &mut |query, row| pairs.push((query, row)));
            pairs.sort_unstable();
            pairs.iter().try_for_each(|(query, row)| writeln!(out, "{query}\t{row}"))?;
            writeln!(out, "end")?;
        } else {
            let mut found = 0_u64;
            let start = Instant::now();
            index.search(asked, &mut |_, _| found += 1);
            writeln!(out, "asked\t{:.9}\t{found}", start.elapsed().as_secs_f64())?;
        }
        out.flush()?;
    }
    Ok(())
}
