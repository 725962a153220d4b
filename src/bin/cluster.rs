//! Passes on pairs, copies and the ranks of documents.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("cluster")
}
