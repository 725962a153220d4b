//! Writes the order of features, and which of them lie in the IDF range; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("feature-order")
}
