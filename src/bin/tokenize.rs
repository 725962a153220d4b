//! Turns documents (JSON lines) into sets of features.

#[global_allocator]
static ALLOCATOR: twinsplit_cli::allocator::Allocator = twinsplit_cli::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit_cli::stage::main("tokenize")
}
