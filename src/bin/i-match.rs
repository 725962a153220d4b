//! Writes a posting for what each lexicon but the first keeps of a set (I-Match).

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("i-match")
}
