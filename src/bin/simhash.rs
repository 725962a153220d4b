//! Turns documents (JSON lines) into SimHash fingerprints.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("simhash")
}
