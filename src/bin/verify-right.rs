//! Brings each candidate, which carries one set, to the set of its larger id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("verify-right")
}
