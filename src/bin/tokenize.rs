//! Turns documents (JSON lines) into sets of features.

#[global_allocator]
static ALLOCATOR: twinsplit::internal::allocator::Allocator = twinsplit::internal::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("tokenize")
}
