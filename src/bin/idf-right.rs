//! Brings the features in the IDF range together by document.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("idf-right")
}
