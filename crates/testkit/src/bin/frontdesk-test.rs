//! frontdesk-test
fn main() {}
