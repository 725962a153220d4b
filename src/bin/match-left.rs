//! Brings each candidate to the signature of its smaller id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("match-left")
}
