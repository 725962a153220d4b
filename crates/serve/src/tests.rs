//! What a service promises, against what is slow and obvious.

mod faults;
mod model;
mod power;
