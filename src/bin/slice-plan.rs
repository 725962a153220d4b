//! Cuts the sizes into slices of about equal cost; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("slice-plan")
}
