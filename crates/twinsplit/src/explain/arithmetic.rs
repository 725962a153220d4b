//! How the similarity of two documents is computed and compared with the threshold, in the integers that decide.

use twinsplit_core::similarity::{Measure, SetSimilarity, Similarity};

/// What two sets share, and their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Features in both.
    pub overlap: u64,
    /// Features of the first.
    pub size_a: u64,
    /// Features of the other.
    pub size_b: u64,
}

/// The measure in words, its number for the two documents, and the comparison with the threshold, a line each.
pub fn arithmetic(similarity: Similarity, counts: Counts) -> [String; 4] {
    let Counts { overlap, size_a, size_b } = counts;
    let measure = similarity.measure();
    let score = measure.score(overlap, size_a, size_b);
    let title = measure.title();
    let number = match measure {
        Measure::Overlap => format!("{title} = {} = {score}", measure.formula()),
        _ => format!(
            "{title} = {} = {} = {} = {score}",
            measure.formula(),
            inserted(measure, counts),
            fraction(measure, counts)
        ),
    };
    let [rule, comparison] = decision(similarity, counts);
    [format!("{title}: {}", measure.words()), number, rule, comparison]
}

/// The formula with the numbers in it.
fn inserted(measure: Measure, Counts { overlap, size_a, size_b }: Counts) -> String {
    match measure {
        Measure::Jaccard => format!("{overlap} / ({size_a} + {size_b} - {overlap})"),
        Measure::Containment => format!("{overlap} / min({size_a}, {size_b})"),
        Measure::QueryContainment => format!("{overlap} / {size_a}"),
        Measure::Cosine => format!("{overlap} / sqrt({size_a}·{size_b})"),
        Measure::Dice => format!("2·{overlap} / ({size_a} + {size_b})"),
        Measure::Overlap => overlap.to_string(),
    }
}

/// The same as a fraction.
fn fraction(measure: Measure, Counts { overlap, size_a, size_b }: Counts) -> String {
    match measure {
        Measure::Jaccard => format!("{overlap} / {}", size_a + size_b - overlap),
        Measure::Containment => format!("{overlap} / {}", size_a.min(size_b)),
        Measure::QueryContainment => format!("{overlap} / {size_a}"),
        Measure::Cosine => format!("{overlap} / sqrt({})", u128::from(size_a) * u128::from(size_b)),
        Measure::Dice => format!("{} / {}", 2 * overlap, size_a + size_b),
        Measure::Overlap => overlap.to_string(),
    }
}

/// The inequality that decides, and its two sides.
fn decision(similarity: Similarity, Counts { overlap, size_a, size_b }: Counts) -> [String; 2] {
    let sign = |reached: bool| if reached { ">=" } else { "<" };
    let Some(tau) = similarity.tau() else {
        let least = similarity.threshold();
        let reached = similarity.accepts(overlap, size_a, size_b);
        return [
            format!("tau = {least}; a pair shares at least so many features:"),
            format!("{overlap}  {}  {least}", sign(reached)),
        ];
    };
    let (p, q) = tau.fraction();
    let (p, q) = (u128::from(p), u128::from(q));
    let (o, a, b) = (u128::from(overlap), u128::from(size_a), u128::from(size_b));
    let smaller = a.min(b);
    let (rule, left, right, sides) = match similarity.measure() {
        Measure::Jaccard => (
            "o·(p+q) >= p·(|A|+|B|)",
            o * (p + q),
            p * (a + b),
            [format!("{o}·{}", p + q), format!("{p}·{}", a + b)],
        ),
        Measure::Containment => {
            ("o·q >= p·min(|A|, |B|)", o * q, p * smaller, [format!("{o}·{q}"), format!("{p}·{smaller}")])
        }
        Measure::QueryContainment => ("o·q >= p·|A|", o * q, p * a, [format!("{o}·{q}"), format!("{p}·{a}")]),
        Measure::Cosine => (
            "o²·q² >= p²·|A|·|B|",
            o * o * q * q,
            p * p * a * b,
            [format!("{o}²·{q}²"), format!("{p}²·{a}·{b}")],
        ),
        Measure::Dice => {
            ("2·o·q >= p·(|A|+|B|)", 2 * o * q, p * (a + b), [format!("2·{o}·{q}"), format!("{p}·{}", a + b)])
        }
        Measure::Overlap => ("o >= tau", o, 0, [String::new(), String::new()]),
    };
    [
        format!("tau = {tau} = {p}/{q}; a pair shares at least one feature, and {rule}:"),
        format!("{} = {left}  {}  {} = {right}", sides[0], sign(left >= right), sides[1]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use twinsplit_core::choice::Choice;

    /// What is printed is what decides, at thresholds on both sides of a pair.
    #[test]
    fn the_comparison_is_the_decision() {
        for measure in Measure::values() {
            for threshold in ["0.25", "0.333333333", "0.4", "0.5", "0.571428571", "0.6", "1", "4", "5"] {
                let Ok(similarity) = measure.reaching(threshold) else { continue };
                for (overlap, size_a, size_b) in [(4, 6, 5), (4, 8, 8), (3, 9, 4), (5, 5, 5), (1, 2, 8)] {
                    let lines = arithmetic(similarity, Counts { overlap, size_a, size_b });
                    let accepted = similarity.accepts(overlap, size_a, size_b);
                    assert_eq!(lines[3].contains(">="), accepted, "{lines:?}");
                }
            }
        }
    }

    #[test]
    fn each_measure_has_its_own_arithmetic() {
        let shown = |measure: Measure, tau: &str| {
            arithmetic(measure.reaching(tau).unwrap(), Counts { overlap: 4, size_a: 16, size_b: 9 })[1..]
                .join("\n")
        };
        assert_eq!(
            shown(Measure::Containment, "0.5"),
            "Containment = |A∩B| / min(|A|, |B|) = 4 / min(16, 9) = 4 / 9 = 0.444444\n\
             tau = 0.5 = 1/2; a pair shares at least one feature, and o·q >= p·min(|A|, |B|):\n\
             4·2 = 8  <  1·9 = 9"
        );
        assert_eq!(
            shown(Measure::QueryContainment, "0.5"),
            "Containment of the query = |A∩B| / |A| = 4 / 16 = 4 / 16 = 0.250000\n\
             tau = 0.5 = 1/2; a pair shares at least one feature, and o·q >= p·|A|:\n\
             4·2 = 8  <  1·16 = 16"
        );
        assert_eq!(
            shown(Measure::Cosine, "0.3"),
            "Cosine = |A∩B| / sqrt(|A|·|B|) = 4 / sqrt(16·9) = 4 / sqrt(144) = 0.333333\n\
             tau = 0.3 = 3/10; a pair shares at least one feature, and o²·q² >= p²·|A|·|B|:\n\
             4²·10² = 1600  >=  3²·16·9 = 1296"
        );
        assert_eq!(
            shown(Measure::Dice, "0.32"),
            "Dice = 2·|A∩B| / (|A| + |B|) = 2·4 / (16 + 9) = 8 / 25 = 0.320000\n\
             tau = 0.32 = 8/25; a pair shares at least one feature, and 2·o·q >= p·(|A|+|B|):\n\
             2·4·25 = 200  >=  8·25 = 200"
        );
        assert_eq!(
            shown(Measure::Overlap, "5"),
            "Overlap = |A∩B| = 4\ntau = 5; a pair shares at least so many features:\n4  <  5"
        );
    }
}
