//! Gathers the fingerprints under a key and writes them as pairs of blocks.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("hamming-index-reduce")
}
