//! Gathers the documents of a key and writes their list as pairs of blocks.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("lsh-bands-reduce")
}
