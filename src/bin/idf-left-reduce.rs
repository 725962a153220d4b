//! Sends the features in the IDF range back to their documents.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("idf-left-reduce")
}
