//! Sends each set to its slice by size, or writes a slice of its own with --partition by-task (Doc-Split).

#[global_allocator]
static ALLOCATOR: twinsplit::internal::allocator::Allocator = twinsplit::internal::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("index-doc")
}
