//! Gathers the postings of a feature and writes its list as pairs of blocks.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("index-term-reduce")
}
