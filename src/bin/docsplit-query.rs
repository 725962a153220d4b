//! Streams sets past one slice in memory and writes the pairs that reach tau (Doc-Split).

#[global_allocator]
static ALLOCATOR: twinsplit_cli::allocator::Allocator = twinsplit_cli::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit_cli::stage::main("docsplit-query")
}
