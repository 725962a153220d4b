//! Turns documents (JSON lines) into sets of features.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("tokenize")
}
