//! Counts in how many documents each feature stands, and the documents.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("feature-count")
}
