//! Pairs the postings of each list: parts of overlaps, or candidates with --pcp prefix lists.

#[global_allocator]
static ALLOCATOR: twinsplit_cli::allocator::Allocator = twinsplit_cli::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit_cli::stage::main("pcp-map")
}
