//! Counts the keys of the bands of signatures in a Bloom filter.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("band-filter")
}
