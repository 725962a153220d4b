//! APPROXIMATE: estimates the similarity of each candidate and keeps those that reach tau.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("match-right-reduce")
}
