//! Groups documents into connected components or stars, and finds the best of each; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("cluster-reduce")
}
