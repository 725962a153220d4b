//! Passes one of several equal sets on and turns the others, and equal short texts, into copies.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("equal-sets-reduce")
}
