//! Links a document's larger neighbours to the smallest of it and its neighbours.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("large-star-reduce")
}
