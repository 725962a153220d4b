//! Sends the features in the IDF range back to their documents.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("idf-left-reduce")
}
