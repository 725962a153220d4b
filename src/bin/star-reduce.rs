//! Finds the centres of each component and labels its documents with them.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("star-reduce")
}
