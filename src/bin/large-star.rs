//! Writes a forest of the edges that it reads, each edge under both ends.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("large-star")
}
