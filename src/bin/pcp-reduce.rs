//! Adds up the shared features of each pair and keeps the pairs that reach tau.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("pcp-reduce")
}
