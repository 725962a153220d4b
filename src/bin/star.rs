//! Brings the pairs and the documents of each component together.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("star")
}
