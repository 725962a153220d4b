//! Turns documents (JSON lines) into what --check compares of their texts.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("text-content")
}
