//! Brings each document's cluster, rank and set together.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("keep")
}
