//! Counts the shared features of each candidate and keeps those that reach tau.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("verify-right-reduce")
}
