//! `twinsplit partition`: the shuffle's first half for scripts of pipes.

use crate::args;
use clap::{ArgMatches, Args, Command};
use std::fs::File;
use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use twinsplit_core::hash;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::open;
use twinsplit_rows::record::key_end;

/// Rows that are put out of order together.
const WINDOW: usize = 4096;

/// Options.
#[derive(Args, Clone, Debug)]
struct PartitionOpts {
    /// Number of leading fields whose hash chooses the part of a row; with 0 all rows go to part 0
    #[arg(long)]
    fields: usize,
    /// Number of parts
    #[arg(long)]
    parts: usize,
    /// Parts are written to PREFIX.0, PREFIX.1 and so on
    #[arg(long, value_name = "PREFIX")]
    to: PathBuf,
}

/// The command line.
pub fn command() -> Command {
    PartitionOpts::augment_args(Command::new("partition"))
        .about("Deals rows out to part files by a hash of their key")
        .long_about(None)
}

/// A small generator (xorshift64*): the order among equal keys must be arbitrary, and the same in every run.
struct Shuffler(u64);

impl Shuffler {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }
}

fn part_path(to: &Path, part: usize) -> PathBuf {
    let mut path = to.as_os_str().to_owned();
    path.push(format!(".{part}"));
    path.into()
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let opts: PartitionOpts = args::read(matches)?;
    let parts = opts.parts.max(1);
    let mut files = Vec::new();
    for part in 0..parts {
        let path = part_path(&opts.to, part);
        // Rows of other tasks may be there, or what the user named by mistake.
        let file = File::create_new(&path).map_err(Error::io("create", &path))?;
        files.push(BufWriter::with_capacity(64 << 10, file));
    }
    let mut shuffler = Shuffler(0x7477_696e);
    let mut input = open(Path::new("-"))?;
    let mut window: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = input.read_until(b'\n', &mut line).map_err(Error::io("read", ""))?;
        if read > 0 {
            window.push(line);
        }
        if window.len() == WINDOW || read == 0 {
            for end in (1..window.len()).rev() {
                window.swap(end, shuffler.below(end + 1));
            }
            for mut row in window.drain(..) {
                if row.last() != Some(&b'\n') {
                    row.push(b'\n');
                }
                let part = match opts.fields {
                    0 => 0,
                    fields => hash::partition(&row[..key_end(&row[..row.len() - 1], fields)], parts),
                };
                files[part].write_all(&row).map_err(Error::io("write parts to", &opts.to))?;
            }
        }
        if read == 0 {
            return files
                .iter_mut()
                .try_for_each(|file| file.flush().map_err(Error::io("write parts to", &opts.to)));
        }
    }
}
