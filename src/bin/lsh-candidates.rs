//! Pairs the documents of each key whose sizes allow it.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("lsh-candidates")
}
