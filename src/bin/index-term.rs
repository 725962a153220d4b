//! Writes a posting for each feature of a set (Term-Split).

#[global_allocator]
static ALLOCATOR: twinsplit::internal::allocator::Allocator = twinsplit::internal::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("index-term")
}
