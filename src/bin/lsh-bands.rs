//! Writes a posting for the key of each band of a signature.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("lsh-bands")
}
