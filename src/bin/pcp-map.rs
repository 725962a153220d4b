//! Pairs the postings of each list: parts of overlaps, or candidates with --pcp prefix lists.

#[global_allocator]
static ALLOCATOR: twinsplit::internal::allocator::Allocator = twinsplit::internal::allocator::Allocator;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("pcp-map")
}
