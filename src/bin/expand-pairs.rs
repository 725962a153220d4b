//! Repeats each pair for the copies of both its documents, and pairs the copies with one another.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("expand-pairs")
}
