//! Brings equal sets together by a hash of all their features, and equal short texts by theirs.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("equal-sets")
}
