//! Brings equal fingerprints together.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("equal-fingerprints")
}
