//! Brings each feature of each set to the word that it lies in the IDF range.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("idf-left")
}
