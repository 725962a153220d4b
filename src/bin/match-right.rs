//! Brings each candidate, which carries one signature, to the signature of its larger id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("match-right")
}
