//! What a service promises, against what is slow and obvious.

mod client;
mod faults;
mod model;
mod oracle;
mod oracle_runs;
mod power;
mod runs;
mod serving;
mod sockets;
