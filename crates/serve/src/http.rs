//! HTTP/1.1 and JSON beside RESP: the same commands, decided in one order with those, with the same answers; and what monitors ask for.
//!
//! | | |
//! |---|---|
//! | [`request`] | reads requests, with a limit for everything before anything is allocated for it |
//! | `endpoints` | what there is to ask for: one declaration, from which the routes and the OpenAPI document follow |
//! | `bodies` | what requests and answers hold, as JSON |
//! | `session` | one client |

pub(crate) mod bodies;
pub(crate) mod date;
mod described;
pub(crate) mod endpoints;
mod id;
pub(crate) mod openapi;
pub(crate) mod reply;
pub mod request;
pub(crate) mod session;
