//! Adds up the filters of all mappers; one task.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("band-filter-reduce")
}
