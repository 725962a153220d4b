//! Fingerprints to measure with: random ones, and ones that are as uneven as real ones.
//!
//! Real fingerprints are not random: words that every text has pull bits to one side, texts of a topic are alike, and many texts are copies. Of
//! SimHash's 64 bits with weights by term frequency (`reuters21578`, `enron1`, `zh-revisions-iotdb`) the share of ones of a bit varies with a standard
//! deviation of .18 to .22, two fingerprints that are not near differ in 26 to 28 bits on average, and 16 bits of them agree 10 to 116 times as often as
//! random ones. Here: 256 topics of unequal size, a share of ones for each bit and topic, and three in ten are equal to an earlier one or differ
//! from it in a few bits.

/// How fingerprints are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each bit by a coin.
    Random,
    /// As described above.
    Skewed,
}

impl Kind {
    /// Of its name.
    pub fn of(name: &str) -> Option<Self> {
        [("random", Kind::Random), ("skewed", Kind::Skewed)]
            .into_iter()
            .find(|known| known.0 == name)
            .map(|known| known.1)
    }
}

/// SplitMix64: the same fingerprints in every run.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A fingerprint with some bits changed.
    pub fn near(&mut self, value: u128, bits: u32, flips: u64) -> u128 {
        (0..flips).fold(value, |value, _| value ^ 1 << self.below(bits.into()))
    }
}

const TOPICS: usize = 256;

/// Copies are of one of so many last ones.
const RECENT: usize = 1 << 16;

/// Draws fingerprints of up to 128 bits.
pub struct Drawn {
    kind: Kind,
    bits: u32,
    random: Random,
    /// By topic and bit how many of 256 draws are one.
    ones: Vec<[u8; 128]>,
    recent: Vec<u128>,
    drawn: usize,
}

impl Drawn {
    /// Fingerprints of so many bits; the same seed draws the same.
    pub fn new(kind: Kind, bits: u32, seed: u64) -> Self {
        // The topics are those of all seeds: queries are about what the collection is about.
        let mut shares = Random(1);
        let mut part = |size: f64| (shares.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5) * size;
        let common: Vec<f64> = (0..128).map(|_| part(0.55)).collect();
        let ones = (0..TOPICS)
            .map(|_| {
                let mut topic = [0; 128];
                topic
                    .iter_mut()
                    .zip(&common)
                    .for_each(|(one, common)| *one = ((0.5 + common + part(0.4)) * 256.0) as u8);
                topic
            })
            .collect();
        Self { kind, bits, random: Random(seed), ones, recent: Vec::new(), drawn: 0 }
    }

    /// One that is like no other but by its kind.
    pub fn fresh(&mut self) -> u128 {
        let all = u128::MAX >> (128 - self.bits);
        if self.kind == Kind::Random {
            return (u128::from(self.random.next()) << 64 | u128::from(self.random.next())) & all;
        }
        // Topics of unequal size: the smaller of two draws.
        let topic = self.random.below(TOPICS as u64).min(self.random.below(TOPICS as u64));
        let ones = &self.ones[topic as usize];
        let mut value = 0;
        for eight in (0..self.bits as usize).step_by(8) {
            let draws = self.random.next().to_le_bytes();
            let byte = draws
                .iter()
                .zip(&ones[eight..])
                .fold(0, |byte, (draw, ones)| byte << 1 | u128::from(draw < ones));
            value = value << 8 | byte;
        }
        value
    }
}

/// Of the collection: three in ten are equal to an earlier one, or near to it, where they are skewed. It never ends.
impl Iterator for Drawn {
    type Item = u128;

    fn next(&mut self) -> Option<u128> {
        let value = match self.random.below(10) {
            kind @ 0..3 if self.kind == Kind::Skewed && !self.recent.is_empty() => {
                let earlier = self.recent[self.random.below(self.recent.len() as u64) as usize];
                let flips = if kind == 0 { 0 } else { 1 + self.random.below(4) };
                self.random.near(earlier, self.bits, flips)
            }
            _ => self.fresh(),
        };
        if self.recent.len() < RECENT {
            self.recent.push(value);
        } else {
            self.recent[self.drawn % RECENT] = value;
        }
        self.drawn += 1;
        Some(value)
    }
}

/// Queries: every other one a fingerprint of the collection with up to four bits changed, the rest of the same kind and in no relation to it.
pub fn queries<F: Copy + Into<u128>>(values: &[F], count: usize, kind: Kind, bits: u32) -> Vec<u128> {
    let mut fresh = Drawn::new(kind, bits, 3);
    let mut random = Random(4);
    let one = |number: usize| match values.len() {
        some if some > 0 && number.is_multiple_of(2) => {
            let value = values[random.below(some as u64) as usize].into();
            let flips = random.below(5);
            random.near(value, bits, flips)
        }
        _ => fresh.fresh(),
    };
    (0..count).map(one).collect()
}
