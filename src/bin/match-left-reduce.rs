//! Merges repeated candidates and sends each, with the signature of its smaller id, to its larger id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("match-left-reduce")
}
