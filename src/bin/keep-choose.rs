//! Keeps the best document of each cluster and compares the others with it.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("keep-choose")
}
