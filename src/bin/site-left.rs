//! Brings each feature of each page to the word whether it is the template of one site.

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::stage::main("site-left")
}
