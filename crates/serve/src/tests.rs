//! What a service promises, against what is slow and obvious.

mod certificates;
mod client;
mod documented;
mod entries;
mod event_loop;
mod faults;
mod figures;
mod http;
mod http_client;
mod http_refusals;
mod model;
mod openapi;
mod oracle;
mod oracle_runs;
mod power;
mod runs;
pub(crate) mod serving;
mod sets;
mod shards;
mod snapshots;
mod sockets;
mod tls;
mod tls_client;
mod tls_files;
