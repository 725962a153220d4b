//! Writes each pair in both directions under its component, by the best document's rank.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("star-link-reduce")
}
