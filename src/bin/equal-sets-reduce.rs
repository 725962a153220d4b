//! Passes one of several equal sets on and turns the others into copies of it.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("equal-sets-reduce")
}
