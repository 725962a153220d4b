//! Passes one of several equal fingerprints on and turns the others into copies.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("equal-fingerprints-reduce")
}
