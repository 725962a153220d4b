//! Writes each fingerprint into every table.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("hamming-index")
}
