//! Writes each edge under its larger end.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("small-star")
}
