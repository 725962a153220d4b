//! The driver; called by the name of a stage, that stage.

// What `make dist` builds for clusters; its static glibc's own allocator is the alternative.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    twinsplit::internal::cli::main()
}
