//! Values of options: refused or kept as they were typed, and sound for any numbers they are used with.

use twinsplit_core::cluster::keep::{self, KeepRule, Meta, Score};
use twinsplit_core::idf::IdfRange;
use twinsplit_core::similarity::tau::Tau;
use twinsplit_core::similarity::{SetSimilarity, Similarity};
use twinsplit_core::text::FeatureKind;
use twinsplit_io::MaxLine;

/// One input.
pub fn run(data: &[u8]) {
    let Some((numbers, text)) = data.split_at_checked(12) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let number = |at: usize| u64::from(u32::from_le_bytes(numbers[at..at + 4].try_into().expect("4 bytes")));
    let (a, b, shared) = (number(0), number(4), number(8));
    if let Ok(tau) = text.parse::<Tau>() {
        assert_eq!(tau.to_string().parse::<Tau>().expect("what was shown is read"), tau);
        let (p, q) = tau.fraction();
        assert!(0 < p && p <= q);
        let shared = shared.min(a).min(b);
        let exact = shared >= 1
            && u128::from(shared) * (u128::from(p) + u128::from(q))
                >= u128::from(p) * (u128::from(a) + u128::from(b));
        let jaccard = Similarity::from(tau);
        assert_eq!(jaccard.accepts(shared, a, b), exact);
        if a > 0 && b > 0 {
            assert_eq!(shared >= jaccard.overlap_needed(a, b), exact);
            if exact {
                assert!((jaccard.min_partner(a)..=jaccard.max_partner(a)).contains(&b));
                assert!(jaccard.max_partner_sharing(a, shared) >= b);
            }
            let (probe, index) = (jaccard.probe_prefix(a), jaccard.index_prefix(a));
            assert!(1 <= index && index <= probe && probe <= a);
        }
    }
    if let Ok(range) = text.parse::<IdfRange>() {
        assert_eq!(range.to_string().parse::<IdfRange>().expect("what was shown is read"), range);
        // Powers of large numbers take their time: numbers as a collection may have.
        let (low, high) = range.df_range(a >> 12);
        assert!(low >= 1 && (!range.is_everything() || (low == 1 && high >= a >> 12)));
    }
    if let Ok(bound) = text.parse::<MaxLine>() {
        assert_eq!(bound.to_string().parse(), Ok(bound));
    }
    if let Ok(kind) = FeatureKind::parse(text, &|_| Err("no files".to_owned())) {
        assert_eq!(FeatureKind::parse(&kind.to_string(), &|_| Err(String::new())), Ok(kind));
    }
    if let Ok(score) = text.parse::<Score>() {
        let other = (a as i64 - b as i64).to_string().parse::<Score>().expect("a number");
        let key = |score| keep::key(KeepRule::Highest, &Meta { score: Some(score), ..Meta::default() });
        let by_key = key(&score).cmp(&key(&other));
        assert_eq!(score.cmp(&other), by_key.reverse(), "the best comes first");
        if let (Ok(float), true) = (text.parse::<f64>(), text.len() < 9) {
            let expected = float.partial_cmp(&(a as f64 - b as f64)).expect("numbers");
            assert_eq!(score.cmp(&other), expected);
        }
    }
}
