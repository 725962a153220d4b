//! Every hash of the project, by name, pinned by test vectors.
//!
//! A feature is the 64-bit XXH3 of its text. At 10^9 distinct features 0.03 collisions are expected, at 2·10^10
//! eleven; "exact" in this project means exact over these hashes, and its tests compare with the texts.

use md5::{Digest, Md5};
use xxhash_rust::xxh3::{Xxh3, Xxh3Default, xxh3_64, xxh3_64_with_seed, xxh3_128};

/// Seed that keeps the choice of a slice part independent of the choice of a task.
const SLICE_SEED: u64 = 0x7477_696e_0002;
/// Seed that keeps a sample independent of tasks, slices and features.
const SAMPLE_SEED: u64 = 0x7477_696e_0003;
/// Where the seeds of signatures start.
const SIGNATURE_SEED: u64 = 0x7477_696e_0004;
/// The increment of SplitMix64: 2^64 divided by the golden ratio, odd.
pub const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash that stands for a feature text everywhere after `tokenize`: XXH3, 64 bits, seed 0.
#[inline]
pub fn feature(text: &[u8]) -> u64 {
    xxh3_64(text)
}

/// The hash by which equal sets meet: over the features in ascending order, eight bytes each, little endian. Sets
/// that meet are compared in full.
pub fn set(features: &[u64]) -> u64 {
    let mut state = Xxh3Default::new();
    for feature in features {
        state.update(&feature.to_le_bytes());
    }
    state.digest()
}

/// The hash that stands for a whole text where texts are compared, and not sets: XXH3, 128 bits, seed 0. Nothing is compared
/// after it: among 10^9 different texts 1.5·10^-21 pairs of equal hashes are expected.
pub fn text(text: &[u8]) -> u128 {
    xxh3_128(text)
}

/// The hash of a [`text`] that comes part by part.
#[derive(Default)]
pub struct TextParts(Xxh3Default);

impl TextParts {
    /// Takes the next part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// The hash of all parts.
    pub fn hash(&self) -> u128 {
        self.0.digest128()
    }
}

/// MD5 (RFC 1321) as one big-endian number, as the hexadecimal digest is read: a hash of features for fingerprints that
/// other programs make too.
pub fn md5(text: &[u8]) -> u128 {
    u128::from_be_bytes(Md5::digest(text).into())
}

/// The hash of an id in tables of ids; where it leads decides nothing.
#[inline]
pub fn id(id: &[u8]) -> u64 {
    xxh3_64(id)
}

/// Which of `tasks` tasks a key goes to: as Hadoop's KeyFieldBasedPartitioner has it, so that a shuffle is the same on
/// every engine. The hash is that of Java's strings.
pub fn partition(key: &[u8], tasks: usize) -> usize {
    partition_of(java(0, key), tasks)
}

fn java(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, byte| hash.wrapping_mul(31).wrapping_add((*byte).into()))
}

fn partition_of(hash: u32, tasks: usize) -> usize {
    (hash & 0x7fff_ffff) as usize % tasks.max(1)
}

/// The key of a slice: its number, and the first salt with which, of as many tasks as there are slices, the task of
/// its number gets it ([`partition`]): each slice is one task's.
pub fn slice_key(slice: usize, slices: usize) -> String {
    let mut key = format!("{slice:05}.");
    let (prefix, hash) = (key.len(), java(0, key.as_bytes()));
    for salt in 0u32.. {
        key.truncate(prefix);
        let mut rest = salt;
        loop {
            key.push(char::from(SALT + (rest % SALTS) as u8));
            rest /= SALTS;
            if rest == 0 {
                break;
            }
        }
        if partition_of(java(hash, &key.as_bytes()[prefix..]), slices) == slice % slices.max(1) {
            break;
        }
    }
    key
}

/// The first of the characters of a salt, and how many there are: with 31 in a row a hash that is made by multiplying
/// with 31 reaches every remainder.
const SALT: u8 = b'`';
const SALTS: u32 = 31;

/// Which of `parts` parts of a heavy size a document goes to.
pub fn slice_part(id: &[u8], parts: u32) -> u32 {
    (xxh3_64_with_seed(id, SLICE_SEED) % u64::from(parts.max(1))) as u32
}

/// By which documents are sampled: those with the smallest. Over the user's seed, eight bytes, little endian, and
/// the id.
pub fn sample(seed: u64, id: &[u8]) -> u64 {
    let mut state = Xxh3::with_seed(SAMPLE_SEED);
    state.update(&seed.to_le_bytes());
    state.update(id);
    state.digest()
}

/// The hash functions of signatures: a number whose bits all depend on all bits of `value` (steele2014, the finaliser of
/// SplitMix64 in its later form). It is a bijection.
#[inline]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// A hash of 64 bits that are hashed already, by one multiplication: its 128 bits, the halves brought together.
#[inline(always)]
pub fn fold(value: u64) -> u64 {
    let product = u128::from(value) * 0xd134_2543_de82_ef95;
    product as u64 ^ (product >> 64) as u64
}

/// A hash of 32 bits, one for one: the last step of MurmurHash3.
#[inline(always)]
pub fn mix32(value: u32) -> u32 {
    let value = (value ^ value >> 16).wrapping_mul(0x85eb_ca6b);
    let value = (value ^ value >> 13).wrapping_mul(0xc2b2_ae35);
    value ^ value >> 16
}

/// The seed of hash function `number` of signatures: the values of SplitMix64 from [`SIGNATURE_SEED`] on.
#[inline]
pub fn stream(number: u64) -> u64 {
    split_mix(SIGNATURE_SEED, number)
}

/// A pseudo-random number for each number: the values of SplitMix64 with the seed 0.
#[inline]
pub fn pseudo_random(number: u64) -> u64 {
    split_mix(0, number)
}

/// A value of SplitMix64, counted from 0.
#[inline]
fn split_mix(seed: u64, number: u64) -> u64 {
    mix(seed.wrapping_add(number.wrapping_add(1).wrapping_mul(INCREMENT)))
}

/// The key of a band of a signature: over its values, four bytes each, little endian, with the number of the band as seed.
pub fn band(band: u64, values: &[u32]) -> u64 {
    let mut bytes = [0; 256];
    if let Some(room) = bytes.get_mut(..4 * values.len()) {
        room.chunks_exact_mut(4)
            .zip(values)
            .for_each(|(room, value)| room.copy_from_slice(&value.to_le_bytes()));
        return xxh3_64_with_seed(room, band);
    }
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    xxh3_64_with_seed(&bytes, band)
}

/// The hash of a feature in a lexicon, uniform over 32 bits: the least of them are what the lexicon leaves out.
#[inline]
pub fn in_lexicon(lexicon: u64, feature: u64) -> u32 {
    (mix(feature ^ stream(lexicon)) >> 32) as u32
}

/// The key under which the sets meet that have the same features in a lexicon: over these, ascending, eight bytes each, little endian,
/// with the number of the lexicon as seed.
pub fn lexicon(lexicon: u64, features: &[u64]) -> u64 {
    let mut state = Xxh3::with_seed(lexicon);
    for feature in features {
        state.update(&feature.to_le_bytes());
    }
    state.digest()
}

/// The checksum of a page of a file: XXH3, 64 bits.
pub fn page(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// A running checksum over lines, their ends included.
#[derive(Default)]
pub struct Checksum(Xxh3Default);

impl Checksum {
    /// Takes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Takes a line, to which its end is added.
    pub fn line(&mut self, line: &[u8]) {
        self.0.update(line);
        self.0.update(b"\n");
    }

    /// The checksum in 16 hex digits.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.0.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two are vectors of the reference implementation (xxhsum -H3 of "" and "a"); the others pin what
    /// files and slices depend on.
    #[test]
    fn hashes_are_pinned() {
        assert_eq!(feature(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(feature(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(set(&[]), feature(b""));
        assert_eq!(set(&[1, 2]), feature(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]));
    }

    /// Vectors of the reference implementation: xxhsum -H2 of "", "a" and "abc".
    #[test]
    fn the_hash_of_texts_is_pinned() {
        assert_eq!(text(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(text(b"a"), 0xa96f_af70_5af1_6834_e6c6_32b6_1e96_4e1f);
        assert_eq!(text(b"abc"), 0x06b0_5ab6_733a_6185_78af_5f94_892f_3950);
    }

    /// Vectors of RFC 1321, section A.5.
    #[test]
    fn md5_is_that_of_the_rfc() {
        assert_eq!(md5(b""), 0xd41d_8cd9_8f00_b204_e980_0998_ecf8_427e);
        assert_eq!(md5(b"message digest"), 0xf96b_697d_7cb7_938d_525a_2f31_aaf1_61d0);
    }

    /// Vectors of Java's String.hashCode: "hello" is 99162322, "polygenelubricants" is the least int.
    #[test]
    fn partitions_are_those_of_hadoop() {
        assert_eq!(java(0, b"hello"), 99_162_322);
        assert_eq!(java(0, b"polygenelubricants"), 1 << 31);
        assert_eq!(partition(b"hello", 1000), 322);
        assert_eq!(partition(b"polygenelubricants", 1000), 0);
    }

    #[test]
    fn each_slice_is_one_tasks() {
        for slices in [1, 2, 3, 7, 31, 62, 100, 961, 1024] {
            for slice in 0..slices {
                let key = slice_key(slice, slices);
                assert_eq!(partition(key.as_bytes(), slices), slice, "{key} of {slices}");
                assert!(key.starts_with(&format!("{slice:05}.")));
            }
        }
    }

    /// Vectors of the Python package xxhash: xxh3_64_intdigest(struct.pack("<Q", seed) + id, seed=0x7477696e0003).
    #[test]
    fn the_hash_of_samples_is_pinned() {
        assert_eq!(sample(0, b""), 0x47f4_f7aa_696e_e43a);
        assert_eq!(sample(0, b"a"), 0x542b_ad68_ef63_e866);
        assert_eq!(sample(1, b"a"), 0x152a_669b_3181_fbb2);
        assert_eq!(sample(7, "日本".as_bytes()), 0xc3a0_0c05_9594_6adc);
    }

    /// Vectors of SplitMix64 with the seed 1234567, as its author's program prints them.
    #[test]
    fn mix_is_that_of_splitmix64() {
        let state = |number: u64| 1_234_567u64.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let values = [1, 2, 3].map(|number| mix(state(number)));
        assert_eq!(values, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// Vectors of the Python package xxhash: xxh3_64_intdigest(struct.pack("<2I", 1, 2), seed=band), and of 100 values.
    #[test]
    fn keys_of_bands_are_pinned() {
        let many: Vec<u32> = (0..100).collect();
        assert_eq!(
            [band(0, &[1, 2]), band(1, &[1, 2]), band(7, &many)],
            [0x0389_e2c8_892d_5450, 0x66c0_f07d_c924_2d28, 0x7aaf_8b21_6dbd_b9bc]
        );
    }

    /// Vectors of the Python package xxhash, xxh3_64_intdigest(struct.pack("<2Q", 1, 2), seed=lexicon), and of SplitMix64 as above.
    #[test]
    fn keys_of_lexicons_are_pinned() {
        assert_eq!(
            [1, 7].map(|number| lexicon(number, &[1, 2])),
            [0xfb54_cb63_22be_3888, 0x2a74_3c30_8dbe_4fcd]
        );
        let found = [(1, 0), (1, 5), (2, 5)].map(|(number, feature)| in_lexicon(number, feature));
        assert_eq!(found, [0x4c5c_7d9e, 0x2ef3_02e6, 0x33be_d71f]);
    }

    #[test]
    fn a_checksum_is_the_hash_of_its_lines() {
        let mut checksum = Checksum::default();
        checksum.line(b"a\tb");
        checksum.line(b"c");
        assert_eq!(checksum.hex(), format!("{:016x}", feature(b"a\tb\nc\n")));
    }
}
