//! The product: the library with its own roster and tools.

/// A turn is many small allocations on several threads; `docs/decisions/0001-dependencies.md` has the figures.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    frontdesk::main(frontdesk::App::builder())
}
