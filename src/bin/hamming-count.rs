//! Counts different fingerprints.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("hamming-count")
}
