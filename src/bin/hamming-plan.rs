//! Chooses the tables in which fingerprints meet; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("hamming-plan")
}
