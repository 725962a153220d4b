//! The driver; called by the name of a stage, that stage.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::main()
}
