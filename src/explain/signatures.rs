//! What the chain `minhash` sees of two documents: their signatures, and the bands in which they meet.

use twinsplit_core::sketch::minhash::{Estimate, VALUE_BITS, matches};
use twinsplit_io::error::Result;
use twinsplit_rows::params::Params;
use twinsplit_rows::stages::minhash::{BandOpts, SignerOpts};
use twinsplit_rows::stages::signature_check::MatchOpts;

/// Lines on the estimate beside the truth, and on the bands.
pub fn lines(params: &Params, sets: [&[u64]; 2], overlap: u64) -> Result<Vec<String>> {
    let (opts, bands): (SignerOpts, BandOpts) = (params.parse()?, params.parse()?);
    let bands = bands.bands(opts.hashes)?;
    if sets.iter().any(|set| set.is_empty()) {
        return Ok(vec!["MinHash: a document without features has no signature".to_owned()]);
    }
    let mut signer = opts.signer();
    let [x, y] = sets.map(|set| {
        let mut values = Vec::new();
        signer.sign(set, &mut values);
        values
    });
    let keys = |values: &[u32]| {
        let mut keys = Vec::new();
        bands.keys(values, &mut keys);
        keys
    };
    let met: Vec<String> = (1..)
        .zip(keys(&x).iter().zip(&keys(&y)))
        .filter(|(_, (x, y))| x == y)
        .map(|(band, _): (u32, _)| band.to_string())
        .collect();
    let travelling: MatchOpts = params.parse()?;
    let bits = travelling.signature_bits();
    let both = (sets[0].len() + sets[1].len()) as f64 - overlap as f64;
    let low = |values: &[u32]| values.iter().map(|value| value << (VALUE_BITS - bits)).collect::<Vec<_>>();
    let (agree, hashes, jaccard) = (matches(&low(&x), &low(&y)), opts.hashes, overlap as f64 / both);
    let Estimate { part, whole } = Estimate::of(agree, hashes as usize, bits);
    let estimate = part as f64 / whole as f64;
    let compared = if bits == VALUE_BITS { String::new() } else { format!(" in {bits} bits") };
    let chance = bands.probability(jaccard);
    Ok(vec![
        format!(
            "MinHash: {agree} of {hashes} values agree{compared}: estimate {estimate:.6}, Jaccard {jaccard:.6}"
        ),
        match met.len() {
            0 => format!(
                "=> no candidate: they agree in none of {} bands of {} rows, which had a chance of {:.4}",
                bands.bands,
                bands.rows,
                1.0 - chance
            ),
            _ => format!(
                "=> a candidate: of {} bands of {} rows they agree in {}; the chance of one or more was {chance:.4}",
                bands.bands,
                bands.rows,
                met.join(", ")
            ),
        },
    ])
}
