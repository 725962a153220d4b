//! Turns documents (JSON lines) into sets of features.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("tokenize")
}
