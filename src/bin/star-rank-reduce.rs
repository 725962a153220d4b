//! Writes each document of a component under its representative.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("star-rank-reduce")
}
