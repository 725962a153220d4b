//! Writes document frequencies as a reference table for --idf-table; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("idf-table")
}
