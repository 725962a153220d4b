//! Brings each document's component, rank and representative together.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("star-rank")
}
