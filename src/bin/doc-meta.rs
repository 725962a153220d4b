//! Takes from each document what the keep rules need: length, date, score, place.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("doc-meta")
}
