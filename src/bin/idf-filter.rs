//! Keeps the features of each set that lie in the IDF range.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("idf-filter")
}
