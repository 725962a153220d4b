//! Counts in how many sets each feature stands, and the sets; copies are passed over.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("feature-count")
}
