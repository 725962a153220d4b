//! Makes the MinHash signature of each set.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("minhash")
}
