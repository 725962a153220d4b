//! Brings equal sets together by a hash of all their features.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("equal-sets")
}
