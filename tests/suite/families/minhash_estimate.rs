//! The estimate of signatures: unbiased, with no more variance than K independent hash functions have, on synthetic pairs of
//! known similarity.

use twinsplit_core::sketch::minhash::{Method, Signer, matches};

use crate::common::rng::Rng;

/// Mean and variance of the estimates of pairs whose sets share `shared` features and have `own` others each.
fn estimates(method: Method, hashes: usize, (shared, own): (usize, usize), pairs: usize) -> (f64, f64) {
    let mut rng = Rng::new(22);
    let mut signer = Signer::new(method, hashes);
    let (mut x, mut y, mut sum, mut squares) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for _ in 0..pairs {
        let features: Vec<u64> = (0..shared + 2 * own).map(|_| rng.bits()).collect();
        x.clear();
        y.clear();
        signer.sign(&features[..shared + own], &mut x);
        signer.sign(&[&features[..shared], &features[shared + own..]].concat(), &mut y);
        let estimate = f64::from(matches(&x, &y)) / hashes as f64;
        sum += estimate;
        squares += estimate * estimate;
    }
    let mean = sum / pairs as f64;
    (mean, squares / pairs as f64 - mean * mean)
}

/// Holds mean and variance against J and J(1-J)/K, within five standard errors; the fast method may have less variance, and
/// has where sets are small beside K, for its buckets draw without putting back.
fn check(method: Method, hashes: usize, sizes: (usize, usize), pairs: usize) {
    let (shared, own) = sizes;
    let jaccard = shared as f64 / (shared + 2 * own) as f64;
    let variance = jaccard * (1.0 - jaccard) / hashes as f64;
    let (mean, found) = estimates(method, hashes, sizes, pairs);
    let case = format!(
        "{method:?}, {hashes} values, {sizes:?}: mean {mean:.5} of {jaccard:.5}, variance {:.4}",
        found / variance
    );
    println!("{case}");
    assert!((mean - jaccard).abs() <= 5.0 * (variance / pairs as f64).sqrt(), "{case}");
    let spread = 5.0 * (2.0 / pairs as f64).sqrt();
    assert!(found / variance <= 1.0 + spread, "{case}");
    let least = match method {
        Method::Classic => 1.0 - spread,
        // Every bucket but the first draws from what the others have left.
        Method::Fast => (1.0 - hashes as f64 / (shared + 2 * own) as f64).max(0.0) - spread,
    };
    assert!(found / variance >= least, "{case}");
}

/// Shared features and others of each set: similarities .2, .5, .8 and .9, few features and many.
const SIZES: [(usize, usize); 5] = [(2, 4), (40, 20), (40, 5), (180, 10), (800, 400)];

#[test]
fn estimates_are_unbiased_and_vary_as_they_should() {
    for sizes in SIZES {
        check(Method::Fast, 128, sizes, 2_000);
        check(Method::Classic, 32, sizes, 400);
    }
}

/// At 10^5 pairs of each kind the fast method has at most 1.05 of the variance of K independent hash functions, and that of
/// sets of many features is near it; `classic` has it within its interval.
#[test]
#[ignore = "minutes: 10^5 pairs of each kind; make test-long runs it"]
fn estimates_of_many_pairs() {
    for sizes in SIZES {
        for method in [Method::Fast, Method::Classic] {
            check(method, 128, sizes, 100_000);
        }
    }
    let (_, variance) = estimates(Method::Fast, 128, (8_000, 1_000), 100_000);
    let ratio = variance / (0.8 * 0.2 / 128.0);
    println!("10,000 features: variance {ratio:.4} of J(1-J)/K");
    assert!((0.95..1.05).contains(&ratio));
}
