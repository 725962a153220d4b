//! Links a document and its smaller neighbours to the smallest of them.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("small-star-reduce")
}
