//! Brings each document's component, rank and representative together.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("star-rank")
}
