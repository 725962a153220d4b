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

use crate::sketch::Sketching;
use endpoints::{Does, ENDPOINTS};

/// Reads a body as an endpoint does that takes one, of which there are some: it is that of a number, counted round. How many documents are in it.
///
/// # Errors
/// What was expected there.
pub fn body(endpoint: usize, body: &[u8], sketching: &Sketching) -> Result<usize, String> {
    let with_body = ENDPOINTS.iter().filter(|endpoint| endpoint.takes.is_some());
    let reads = with_body.filter_map(|endpoint| match endpoint.does {
        Does::Ask(reads) => Some(reads),
        _ => None,
    });
    let reads = reads.cycle().nth(endpoint);
    reads.map_or(Ok(0), |reads| Ok(reads(body, sketching)?.documents().count()))
}
