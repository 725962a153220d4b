//! Brings the sets and the documents of each cluster under its best document.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("keep-best")
}
