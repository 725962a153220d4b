//! Which chain a command takes: the one that it names, or the one that suits its options.

use crate::chains::{Chain, Part, Shape};
use crate::engine::params::Params;
use crate::stage::Entry;
use crate::{stages, terminal};
use clap::{Arg, ArgMatches, value_parser};
use std::collections::BTreeSet;

/// The argument that names the chain.
pub fn arg() -> Arg {
    Arg::new("chain").value_name("CHAIN").value_parser(value_parser!(Chain)).help(
        "How pairs are found; the answer is the same. Without it doc-split, or term-split where an option is given \
         that it alone has",
    )
}

/// The chain to take. Unless it was named, or `quiet`, a note says which it is and why.
pub fn chosen(matches: &ArgMatches, params: &Params, quiet: bool) -> Chain {
    if let Some(chain) = matches.get_one::<Chain>("chain") {
        return *chain;
    }
    let own = own_options(Chain::TermSplit);
    let option = params.iter().map(|(name, _)| name).find(|name| own.contains(*name));
    let (chain, why) = match option {
        Some(name) => (Chain::TermSplit, format!(", for it alone has --{name}")),
        None => (Chain::DocSplit, String::new()),
    };
    if !quiet {
        terminal::note(format_args!("no chain is named, so {} is taken{why}", chain.name()));
    }
    chain
}

/// The options that a chain has, in whatever shape, and no other.
pub fn own_options(chain: Chain) -> BTreeSet<String> {
    let others = [Chain::TermSplit, Chain::DocSplit].into_iter().filter(|other| *other != chain);
    let others: BTreeSet<String> = others.flat_map(options).collect();
    options(chain).difference(&others).cloned().collect()
}

fn options(chain: Chain) -> BTreeSet<String> {
    let steps = Shape::all().flat_map(|shape| chain.parts(shape));
    let steps: Vec<_> = steps.flat_map(|part: Part| part.steps().to_vec()).collect();
    let names: BTreeSet<_> = steps.iter().flat_map(|step| [step.map, step.reduce]).flatten().collect();
    names.into_iter().filter_map(stages::find).flat_map(Entry::options).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_have_options_of_their_own() {
        let [term_split, doc_split] = [Chain::TermSplit, Chain::DocSplit].map(own_options);
        for name in ["pcp", "df-cut", "accumulators"] {
            assert!(term_split.contains(name), "{name}: {term_split:?}");
        }
        for name in ["slices", "partition"] {
            assert!(doc_split.contains(name), "{name}: {doc_split:?}");
        }
        for name in
            ["tau", "idf", "idf-lookup", "features", "max-pairs", "cluster", "write", "keep", "ranked"]
        {
            assert!(!term_split.contains(name) && !doc_split.contains(name), "{name}");
        }
    }
}
