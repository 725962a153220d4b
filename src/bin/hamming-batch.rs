//! Streams fingerprints past those of a batch of queries in memory, and writes the queries that are near.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("hamming-batch")
}
