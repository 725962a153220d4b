//! What a service promises, against what is slow and obvious.

mod client;
mod faults;
mod model;
mod power;
mod serving;
mod sockets;
