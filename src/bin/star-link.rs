//! Brings both ends of each pair to the documents with their sets.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("star-link")
}
