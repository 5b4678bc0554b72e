//! The garage: the product with a garage's tables and tools.

/// As in the product's own binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    frontdesk::main(garage::app())
}
