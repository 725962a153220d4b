//! Streams sets past one slice in memory and writes the pairs that reach tau (Doc-Split).

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("docsplit-query")
}
