//! Counts the shared features of each candidate and keeps those that reach tau.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("verify-right-reduce")
}
