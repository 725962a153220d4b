//! Passes on, unchanged, the lines of documents that no cluster drops.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("write-kept")
}
