//! Writes each slice as a file in the task's output folder.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("index-doc-reduce")
}
