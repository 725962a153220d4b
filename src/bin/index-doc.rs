//! Sends each set to its slice by size, or writes a slice of its own with --partition by-task (Doc-Split).

#[global_allocator]
static ALLOCATOR: twinsplit_cli::allocator::Allocator = twinsplit_cli::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit_cli::stage::main("index-doc")
}
