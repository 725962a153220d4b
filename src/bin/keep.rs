//! Brings the sets and the documents of each cluster under the document that is kept.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("keep")
}
