//! Repeats each pair for every copy of its larger id, and pairs the copies with one another.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("expand-right-reduce")
}
