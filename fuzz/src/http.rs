//! Requests of HTTP, of any bytes: what is read is the same whether it comes at once or in pieces, and nothing is larger than it may be.

use twinsplit_serve::http::request::{Failure, Head, Item, Length, Reader, unescaped};

/// Bytes of the longest body.
const MOST: usize = 600;

/// What was read of some bytes, and how it ended.
type Read = (Vec<Result<(Head, Vec<u8>), (Head, Failure)>>, Option<Failure>);

/// One input: how many bytes come at one time, and the bytes.
pub fn run(data: &[u8]) {
    let Some((size, rest)) = data.split_first() else { return };
    let whole = read(rest, rest.len().max(1));
    let pieces = read(rest, usize::from(*size % 40) + 1);
    assert_eq!(whole, pieces);
    for one in &whole.0 {
        let (Ok((head, _)) | Err((head, _))) = one;
        for part in head.path.split('/') {
            assert!(unescaped(part).is_none_or(|bytes| bytes.len() <= part.len()));
        }
        if let Ok((head, body)) = one {
            assert!(body.len() <= MOST && head.path.starts_with('/'));
            assert!(head.length == Length::Chunked || head.length == Length::Bytes(body.len() as u64));
        }
    }
}

/// Some are refused by their paths.
fn admit(head: &Head) -> Result<(), Failure> {
    if head.path.contains('x') { Err(Failure::new(404, "NOTFOUND x")) } else { Ok(()) }
}

fn read(bytes: &[u8], size: usize) -> Read {
    let mut reader = Reader::new(MOST);
    let (mut there, mut all) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        there.extend_from_slice(piece);
        loop {
            match reader.read(&there, admit) {
                Err(failure) => return (all, Some(failure)),
                Ok((used, item)) => {
                    there.drain(..used);
                    match item {
                        Item::Whole(request) => all.push(Ok((request.head, request.body))),
                        Item::Refused(head, failure) => all.push(Err((head, failure))),
                        Item::Partial => break,
                    }
                }
            }
        }
        // Whether the client is told to go on changes nothing.
        reader.must_continue();
    }
    (all, None)
}
