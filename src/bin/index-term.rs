//! Writes a posting for each feature of a set (Term-Split).

#[global_allocator]
static ALLOCATOR: twinsplit_cli::allocator::Allocator = twinsplit_cli::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit_cli::stage::main("index-term")
}
