//! Passes each document's properties on, and stops at an id that two documents have.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("doc-meta-reduce")
}
