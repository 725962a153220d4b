//! Streams sets past one slice in memory and writes the pairs that reach tau (Doc-Split).

#[global_allocator]
static ALLOCATOR: twinsplit::internal::allocator::Allocator = twinsplit::internal::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("docsplit-query")
}
