//! Brings each pair to the copies of its larger id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("expand-right")
}
