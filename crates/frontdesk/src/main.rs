//! The product: the library with its own roster and tools.

fn main() -> std::process::ExitCode {
    frontdesk::main(frontdesk::App::builder())
}
