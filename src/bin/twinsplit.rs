//! The driver (and, under a stage's name, that stage).
fn main() {}
