//! Document ids: bytes that stay one field of one line, and keep their order.

/// Appends `raw` with every byte below 0x20, 0x7F and the backslash written as `\xHH`. That form is the id from
/// then on, for every order and every tie.
///
/// So are the three bytes of a byte order mark with which an id begins: an id is the beginning of many rows, and
/// Hadoop and Spark take such a mark from the beginning of every file that they read, those between jobs included.
pub fn escape(raw: &[u8], out: &mut Vec<u8>) {
    escape_but(raw, |byte| byte == b'\\', out);
}

/// The same of an id that is made of a place, whose file's name has the backslash escaped already.
pub fn escape_place(place: &[u8], out: &mut Vec<u8>) {
    escape_but(place, |_| false, out);
}

fn escape_but(raw: &[u8], is_special: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mark = if raw.starts_with(MARK) { MARK.len() } else { 0 };
    for (at, &byte) in raw.iter().enumerate() {
        if byte < 0x20 || byte == 0x7f || is_special(byte) || at < mark {
            out.extend_from_slice(b"\\x");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        } else {
            out.push(byte);
        }
    }
}

/// The id as it was before [`escape`].
pub fn unescape(id: &[u8]) -> String {
    let mut raw = Vec::with_capacity(id.len());
    let mut rest = id;
    while let Some((&byte, more)) = rest.split_first() {
        let escaped = || {
            let (digits, behind) = more.strip_prefix(b"x")?.split_at_checked(2)?;
            Some((u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, behind))
        };
        let (value, behind) = escaped().filter(|_| byte == b'\\').unwrap_or((byte, more));
        raw.push(value);
        rest = behind;
    }
    String::from_utf8_lossy(&raw).into_owned()
}

/// U+FEFF in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_escaped_comes_back(id in "(\u{feff}|[\\\\x0-9a-f\t\n]|\\PC){0,12}") {
            let mut out = Vec::new();
            super::escape(id.as_bytes(), &mut out);
            prop_assert_eq!(super::unescape(&out), id);
        }
    }

    #[test]
    fn only_what_would_break_a_line_is_escaped() {
        let mut out = Vec::new();
        super::escape("a b\t\\é\u{7f}\n".as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "a b\\x09\\x5cé\\x7f\\x0a");
    }

    #[test]
    fn a_mark_is_escaped_where_a_file_could_begin_with_it() {
        let mut out = Vec::new();
        super::escape("\u{feff}\u{feff}a\u{feff}".as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\\xef\\xbb\\xbf\u{feff}a\u{feff}");
    }
}
