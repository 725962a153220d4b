//! Writes slices; with as many tasks as the plan has slices, each task writes one.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("index-doc-reduce")
}
