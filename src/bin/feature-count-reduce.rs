//! Adds up the counts of each feature.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("feature-count-reduce")
}
