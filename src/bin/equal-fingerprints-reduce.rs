//! Passes one of several equal fingerprints on, turns the others into copies, and stops at an id that two documents have.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("equal-fingerprints-reduce")
}
