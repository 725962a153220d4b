//! Writes a posting for each feature of a set (Term-Split).

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("index-term")
}
