//! Compares the documents of each cluster with the one that is kept.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("keep-choose")
}
