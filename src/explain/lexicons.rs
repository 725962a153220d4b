//! What the chain `i-match` sees of two documents: the lexicons in which their features are the same.

use twinsplit_io::error::Result;
use twinsplit_rows::params::Params;
use twinsplit_rows::stages::i_match::LexiconOpts;

/// A line on the lexicons.
pub fn line(params: &Params, mut sets: [Vec<u64>; 2]) -> Result<String> {
    let lexicons: LexiconOpts = params.parse()?;
    sets.iter_mut().for_each(|set| set.sort_unstable());
    let (agree, number) = (lexicons.agree(&sets[0], &sets[1]), lexicons.number());
    // People count from 1, and the first is that of all features in the range.
    let names: Vec<_> = agree.iter().map(|lexicon| (lexicon + 1).to_string()).collect();
    Ok(match names.len() {
        0 => format!(
            "I-Match: in none of {number} lexicons are their features the same\n=> no pair of this chain"
        ),
        _ => format!(
            "I-Match: of {number} lexicons their features are the same in {}\n=> a match",
            names.join(", ")
        ),
    })
}
