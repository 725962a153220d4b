//! Repeats each pair for every copy of its smaller id, under its larger id.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("expand-left-reduce")
}
