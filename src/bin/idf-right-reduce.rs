//! Makes each document's set of the features in the IDF range.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("idf-right-reduce")
}
