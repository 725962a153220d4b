//! Adds up the shared features of each pair and keeps the pairs that reach tau.

#[global_allocator]
static ALLOCATOR: twinsplit_cli::allocator::Allocator = twinsplit_cli::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit_cli::stage::main("pcp-reduce")
}
