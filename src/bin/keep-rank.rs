//! Brings each document's cluster, rank and set together.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("keep-rank")
}
