//! Compares the two texts of each pair and keeps those that are alike as --check asks.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("text-right")
}
