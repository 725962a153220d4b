//! `twinsplit fingerprints stats` and `plan`.

use super::show;
use crate::options::threads;
use clap::Args;
use std::path::PathBuf;
use twinsplit_hamming::{Fingerprint, Index, Layout, Plan, Verify, bits_of, plan};
use twinsplit_io::error::Result;
use twinsplit_io::{Megabytes, Stdout};

/// Options of `stats`.
#[derive(Args, Clone, Debug)]
pub struct StatsOpts {
    /// The index file; all of it is compared with its checksums
    #[arg(value_name = "INDEX")]
    index: PathBuf,
}

/// Options of `plan`.
#[derive(Args, Clone, Debug)]
pub struct PlanOpts {
    /// How many different fingerprints
    #[arg(long, value_name = "N")]
    fingerprints: usize,
    /// Their bits
    #[arg(long, default_value = "64", value_parser = ["64", "128"])]
    bits: String,
    /// The most bits in which what queries find may differ from them, 0 to 8
    #[arg(long, default_value_t = 3, value_name = "K")]
    distance: u32,
    /// Megabytes that the tables may take
    #[arg(long, env = "TWINSPLIT_MEMORY", default_value_t = Megabytes::new(4096), value_name = "MB")]
    memory: Megabytes,
}

/// Runs `stats`.
pub fn run(opts: &StatsOpts) -> Result<()> {
    if bits_of(&opts.index)? == 128 { stats::<u128>(opts) } else { stats::<u64>(opts) }
}

fn stats<F: Fingerprint>(opts: &StatsOpts) -> Result<()> {
    let index = Index::<F>::open(&opts.index, Verify::All { threads: threads(None) })?;
    let fullest: Vec<String> = index.fullest().map(|entries| entries.to_string()).collect();
    show(&[
        ("bits", F::BITS.to_string()),
        ("distance", index.distance().to_string()),
        ("fingerprints", index.len().to_string()),
        ("distinct", index.distinct().to_string()),
        ("layout", index.plan().layout.to_string()),
        ("tables", tables(index.plan())),
        ("bytes", index.memory().to_string()),
        ("bytes_per_fingerprint", format!("{:.2}", index.memory() as f64 / index.len().max(1) as f64)),
        ("entries_in_the_fullest_bucket", fullest.join(" ")),
        ("checksums", "verified".to_owned()),
    ])
}

/// Directory bits and radius of each table.
fn tables<F: Fingerprint>(plan: &Plan<F>) -> String {
    let table = |table: &twinsplit_hamming::TableShape<F>| format!("{}/{}", table.directory, table.radius);
    plan.tables.iter().map(table).collect::<Vec<_>>().join(" ")
}

/// Runs `plan`.
pub fn plan_of(opts: &PlanOpts) -> Result<()> {
    if opts.bits == "128" { plans::<u128>(opts) } else { plans::<u64>(opts) }
}

fn plans<F: Fingerprint>(opts: &PlanOpts) -> Result<()> {
    let memory = opts.memory.bytes() as u64;
    let of = |layout, memory| plan::<F>(opts.fingerprints, opts.distance, layout, memory);
    let taken = of(None, memory);
    let mut out = Stdout::new();
    out.line(b"layout\tMB\tns\tdirectory bits/radius of each table\ttaken")?;
    let several = (2..=opts.distance + 1).map(Layout::MultiIndex);
    for layout in [Layout::Scan].into_iter().chain(several).chain([Layout::BlockPairs]) {
        let is_taken = taken.as_ref().is_ok_and(|taken| taken.layout == layout);
        // What does not fit is shown with what it would take.
        let plan = of(Some(layout), memory).or_else(|_| of(Some(layout), u64::MAX))?;
        out.line(
            format!(
                "{layout}\t{:.1}\t{:.0}\t{}\t{}",
                plan.memory as f64 / 1e6,
                plan.cost,
                tables(&plan),
                if is_taken { "yes" } else { "no" }
            )
            .as_bytes(),
        )?;
    }
    out.flush()?;
    taken.map(drop)
}
