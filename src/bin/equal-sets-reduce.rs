//! Passes one of several equal sets on, turns the others, and equal short texts, into copies, and stops at an id that two documents have.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("equal-sets-reduce")
}
