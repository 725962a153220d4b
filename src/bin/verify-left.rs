//! Brings each candidate to the set of its smaller id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("verify-left")
}
