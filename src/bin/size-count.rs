//! Counts the sets of each size.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("size-count")
}
