//! Links a document's larger neighbours to the smallest of it and its neighbours.

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("large-star-reduce")
}
