//! Keeps the features of each set that lie in the IDF range.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("idf-filter")
}
