//! Sends the features that are no site's template back to their documents.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("site-left-reduce")
}
