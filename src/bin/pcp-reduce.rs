//! Adds up the shared features of each pair and keeps the pairs that reach tau.

#[global_allocator]
static ALLOCATOR: twinsplit::internal::allocator::Allocator = twinsplit::internal::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("pcp-reduce")
}
