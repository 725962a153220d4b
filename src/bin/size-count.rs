//! Counts the sets of each size.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("size-count")
}
