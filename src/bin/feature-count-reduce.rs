//! Adds up the counts of each feature.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("feature-count-reduce")
}
