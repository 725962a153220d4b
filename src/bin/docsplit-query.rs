//! Streams sets past one slice in memory and writes the pairs that reach tau (Doc-Split).

fn main() -> std::process::ExitCode {
    twinsplit::cli::stage::main("docsplit-query")
}
