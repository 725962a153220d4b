//! Sends each set to its slice by size, or writes its own slice file with --partition by-task (Doc-Split).

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("index-doc")
}
