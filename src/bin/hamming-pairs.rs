//! Compares the fingerprints that meet in a table, and writes those that are near.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("hamming-pairs")
}
