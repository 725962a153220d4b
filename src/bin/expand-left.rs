//! Brings each pair to the copies of its smaller id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("expand-left")
}
