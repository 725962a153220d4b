//! Document ids: bytes that stay one field of one line, and keep their order.

/// Appends `raw` with every byte below 0x20, 0x7F and the backslash written as `\xHH`. That form is the id from
/// then on, for every order and every tie.
pub fn escape(raw: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for &byte in raw {
        if byte < 0x20 || byte == 0x7f || byte == b'\\' {
            out.extend_from_slice(b"\\x");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        } else {
            out.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_would_break_a_line_is_escaped() {
        let mut out = Vec::new();
        super::escape("a b\t\\é\u{7f}\n".as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "a b\\x09\\x5cé\\x7f\\x0a");
    }
}
