//! Adds up the counts of each size.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("size-count-reduce")
}
