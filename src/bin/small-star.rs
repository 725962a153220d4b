//! Writes each edge under its larger end.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("small-star")
}
