//! Pairs the postings of each list: parts of overlaps, or candidates with --pcp prefix lists.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("pcp-map")
}
