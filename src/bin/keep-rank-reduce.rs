//! Writes each clustered document under its cluster, by rank.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("keep-rank-reduce")
}
