//! The `dshc` binary.
fn main() {}
