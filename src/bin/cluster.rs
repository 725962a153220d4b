//! Groups documents into connected components or stars; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("cluster")
}
