//! What steps counted: names and numbers, a line for each.

use std::io::BufRead;
use twinsplit_engine::progress::add_counters;
use twinsplit_io::Stdout;
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::stage::Counters;

/// Hadoop's own counters of volumes and memory, under names of ours.
const OF_HADOOP: [(&str, &str); 8] = [
    ("Map output materialized bytes", "shuffled_bytes"),
    ("Spilled Records", "spilled_records"),
    ("HDFS: Number of bytes read", "hdfs_bytes_read"),
    ("HDFS: Number of bytes written", "hdfs_bytes_written"),
    ("Launched map tasks", "tasks"),
    ("Launched reduce tasks", "tasks"),
    ("Peak Map Physical memory (bytes)", "peak_memory"),
    ("Peak Reduce Physical memory (bytes)", "peak_memory"),
];

/// What a job's client prints at its end, which some clients do twice: the stages' own counters, whose group is the stage, and
/// some of Hadoop's. Peaks of stages are left out, for Hadoop has added them up.
pub fn of_client(log: impl BufRead) -> Result<Counters> {
    let (mut found, mut group) = (Counters::new(), String::new());
    for line in log.split(b'\n') {
        let line = line.map_err(Error::io("read", ""))?;
        let line = String::from_utf8_lossy(&line);
        if let Some((_, number)) = line.rsplit_once("Counters: ") {
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                found.clear();
            }
            continue;
        }
        let Some(counter) = line.strip_prefix("\t\t") else {
            group = line.strip_prefix('\t').unwrap_or_default().to_owned();
            continue;
        };
        let Some((name, Ok(number))) = counter.rsplit_once('=').map(|(name, number)| (name, number.parse()))
        else {
            continue;
        };
        let of_stage = group.starts_with(|c: char| c.is_ascii_lowercase())
            && group.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            && !name.starts_with("peak_");
        let known = OF_HADOOP.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
        if let Some(name) = known.or(of_stage.then_some(name)) {
            add_counters(&mut found, &Counters::from([(name.to_owned(), number)]));
        }
    }
    Ok(found)
}

/// The sum of counters.
pub fn sum(lines: impl BufRead) -> Result<Counters> {
    let mut sum = Counters::new();
    for line in lines.lines() {
        let line = line.map_err(Error::io("read", ""))?;
        if let Some((name, Ok(number))) = line.split_once('\t').map(|(name, number)| (name, number.parse())) {
            add_counters(&mut sum, &Counters::from([(name.to_owned(), number)]));
        }
    }
    Ok(sum)
}

/// Prints counters.
pub fn print(counters: &Counters) -> Result<()> {
    let mut out = Stdout::new();
    for (name, number) in counters {
        out.line(format!("{name}\t{number}").as_bytes())?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_heard_once_and_peaks_are_not_added() {
        let log = "INFO mapreduce.Job: Counters: 5\n\tFile System Counters\n\t\tHDFS: Number of bytes read=7\n\ttokenize\n\t\t\
                   documents=3\n\t\tpeak_bytes=9\nINFO mapreduce.Job: Counters: 5\n\tFile System Counters\n\t\tHDFS: Number of bytes read=7\n\
                   \tJob Counters \n\t\tLaunched map tasks=2\n\t\tLaunched reduce tasks=1\n\t\tPeak Map Physical memory (bytes)=5\n\t\t\
                   Peak Reduce Physical memory (bytes)=4\n\ttokenize\n\t\tdocuments=3\n\t\tpeak_bytes=9\n\ta=b\n\t\tx=1\nrest\n\t\ty=1\n";
        let found = of_client(log.as_bytes()).unwrap();
        let expected = [("documents", 3), ("hdfs_bytes_read", 7), ("peak_memory", 5), ("tasks", 3)];
        assert_eq!(found, expected.map(|(name, number)| (name.to_owned(), number)).into());
        let sum = sum("a\t2\npeak_x\t3\na\t5\npeak_x\t1\n".as_bytes()).unwrap();
        assert_eq!(sum, [("a", 7), ("peak_x", 3)].map(|(name, number)| (name.to_owned(), number)).into());
    }
}
