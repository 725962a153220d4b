//! Writes each clustered document under its cluster, by rank.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("keep-reduce")
}
