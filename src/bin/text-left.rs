//! Sends each pair, with the content of its smaller id, to its larger id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("text-left")
}
