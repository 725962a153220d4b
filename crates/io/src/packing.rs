//! The compressions that files of documents may have, by their first bytes.

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Members of gzip (RFC 1952).
    Gzip,
    /// Frames of zstd (RFC 8878), some of which may be skippable.
    Zstd,
    /// Streams of bzip2.
    Bzip2,
    /// Streams of xz.
    Xz,
}

/// What follows the level in a stream of bzip2: the beginning of a block, or of the end where there is none.
const BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17rE8P\x90"];

impl Packing {
    /// So many bytes of a file are enough to tell its compression.
    pub const HEAD: usize = 10;

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Zstd, Self::Bzip2, Self::Xz];

    /// The compression of a file that begins with these bytes: they are the first [`Self::HEAD`] of it, or all.
    pub fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|packing| packing.begins(head))
    }

    fn begins(self, head: &[u8]) -> bool {
        match self {
            Self::Gzip => head.starts_with(b"\x1f\x8b"),
            // The second form is a skippable frame.
            Self::Zstd => {
                head.starts_with(b"\x28\xb5\x2f\xfd") || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
            }
            // These letters begin texts, too, so what follows them must fit, as far as there is something.
            Self::Bzip2 => matches!(head, [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if BLOCKS.iter().any(|block| block.starts_with(&rest[..rest.len().min(block.len())]))),
            Self::Xz => head.starts_with(b"\xfd7zXZ\0"),
        }
    }

    /// Whether another part of such a file may begin with this byte.
    pub(crate) fn may_follow(self, byte: u8) -> bool {
        match self {
            Self::Gzip => byte == 0x1f,
            Self::Zstd => matches!(byte, 0x28 | 0x50..=0x5f),
            Self::Bzip2 => byte == b'B',
            Self::Xz => byte == 0xfd,
        }
    }

    /// What people call it, which is also the name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// How the names of such files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
            Self::Bzip2 => "bz2",
            Self::Xz => "xz",
        }
    }

    /// The command that unpacks standard input.
    pub fn command(self) -> String {
        format!("{} -dc", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_a_compression() {
        for (head, packing) in [
            (&b"\x1f\x8b\x08"[..], Some(Packing::Gzip)),
            (b"\x28\xb5\x2f\xfd\x04", Some(Packing::Zstd)),
            (b"\x5e\x2a\x4d\x18\x04\0\0\0", Some(Packing::Zstd)),
            (b"BZh91AY&SY", Some(Packing::Bzip2)),
            (b"BZh1\x17rE8P\x90", Some(Packing::Bzip2)),
            (b"BZh91A", Some(Packing::Bzip2)),
            (b"BZh9", Some(Packing::Bzip2)),
            (b"BZh9,a,b", None),
            (b"BZhang", None),
            (b"\xfd7zXZ\0\0\x04", Some(Packing::Xz)),
            (b"(\xb5", None),
            (b"{\"id\":1}", None),
            (b"", None),
        ] {
            assert_eq!(Packing::of(head), packing, "{}", head.escape_ascii());
        }
    }
}
