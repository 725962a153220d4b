//! How far apart the fingerprints of a pair may be, for short texts farther than for long ones (yanlan).

use std::fmt;
use std::str::FromStr;

/// The greatest distance of any pair: half of the bits of a short fingerprint, as far apart as texts that have nothing to do
/// with each other.
pub const MOST: u32 = 32;

/// The greatest Hamming distance of a pair, by the length of its texts: `3,140:8` is 3, and 8 for texts of up to 140
/// characters. Of two texts the longer one decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    /// For texts that are in no class.
    all: u32,
    /// Classes of texts: the most characters, ascending, and the distance, descending and above that of all.
    classes: Vec<(u64, u32)>,
}

/// A text that is no distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistanceError(String);

impl fmt::Display for DistanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a distance is a whole number from 0 to {MOST}; classes of shorter texts may follow, such as 3,500:5,140:8, each \
             with the most characters of its texts and a distance that is greater than that of longer ones; found {:?}",
            self.0
        )
    }
}

impl std::error::Error for DistanceError {}

impl Distances {
    /// The distance of a text of so many characters.
    pub fn of(&self, characters: u64) -> u32 {
        self.classes.iter().find(|(most, _)| characters <= *most).map_or(self.all, |class| class.1)
    }

    /// Whether all texts have one distance.
    pub fn is_one(&self) -> bool {
        self.classes.is_empty()
    }

    /// The distance of a text.
    pub fn of_text(&self, text: &str) -> u32 {
        if self.is_one() { self.all } else { self.of(text.chars().count() as u64) }
    }

    /// The greatest distance of any text.
    pub fn most(&self) -> u32 {
        self.classes.first().map_or(self.all, |class| class.1)
    }

    /// The distance of texts in no class.
    pub fn all(&self) -> u32 {
        self.all
    }
}

impl Default for Distances {
    /// 3 (manku2007, yanlan).
    fn default() -> Self {
        Self { all: 3, classes: Vec::new() }
    }
}

impl FromStr for Distances {
    type Err = DistanceError;

    fn from_str(text: &str) -> Result<Self, DistanceError> {
        let number = |digits: &str| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| plain)
        };
        let distance = |digits: &str| number(digits).filter(|n| *n <= MOST.into()).map(|n| n as u32);
        let read = || {
            let mut parts = text.split(',');
            let all = distance(parts.next()?)?;
            let class = |part: &str| {
                let (most, of) = part.split_once(':')?;
                Some((number(most)?, distance(of)?))
            };
            let mut classes = parts.map(class).collect::<Option<Vec<_>>>()?;
            classes.sort_unstable();
            let falls = classes.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 > two[1].1);
            let above = classes.last().is_none_or(|last| last.1 > all);
            (falls && above).then_some(Self { all, classes })
        };
        read().ok_or_else(|| DistanceError(text.to_owned()))
    }
}

impl fmt::Display for Distances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.all)?;
        self.classes.iter().rev().try_for_each(|(most, of)| write!(f, ",{most}:{of}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_by_length() {
        let distances: Distances = "3,140:8,500:5".parse().unwrap();
        assert_eq!([0, 140, 141, 500, 501].map(|length| distances.of(length)), [8, 8, 5, 5, 3]);
        assert_eq!(distances.to_string(), "3,500:5,140:8");
        assert_eq!((distances.most(), distances.of_text("汉字")), (8, 8));
        assert_eq!("0".parse::<Distances>().unwrap().of(7), 0);
        assert_eq!(Distances::default().to_string(), "3");
    }

    #[test]
    fn what_is_no_distance_is_refused() {
        for text in [
            "",
            "33",
            "-1",
            "+3",
            "3,",
            "3,140",
            "3,140:3",
            "3,140:8,500:9",
            "3,140:8,140:9",
            "3;140:8",
            "3 ",
        ] {
            let error = text.parse::<Distances>().unwrap_err().to_string();
            assert!(error.contains(&format!("found {text:?}")), "{error}");
        }
    }
}
