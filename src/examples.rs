//! Command lines that are shown in the manual. A test runs all of them, in this order, in one folder with
//! `docs.jsonl.gz` (tiny.jsonl of the fixtures) and `crawl/`, and holds the answer of the stages against the driver's.

/// A line for a shell, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it does.
    pub about: &'static str,
    /// The line.
    pub line: &'static str,
}

const fn example(about: &'static str, line: &'static str) -> Example {
    Example { about, line }
}

/// All examples. Files that a line reads were written by one above it.
pub const EXAMPLES: &[Example] = &[
    example(
        "Pairs, clusters and a report of one file of documents",
        "twinsplit run doc-split --input docs.jsonl.gz --output out",
    ),
    example(
        "Documents against all that came before, of which they become a part",
        "twinsplit run --input docs.jsonl.gz --store news.store --batch-id monday --output first; twinsplit run --input crawl --against news.store --output second",
    ),
    example("What a store holds", "twinsplit store ls news.store"),
    example("Whether its files are what they were", "twinsplit store verify news.store"),
    example(
        "Documents that leave a store, and which others were dropped in favour of them",
        "twinsplit store forget news.store en-01 en-05 --output orphans",
    ),
    example(
        "The same of whole batches: by name, and by when they came",
        "twinsplit store drop-batch news.store monday --dry-run; twinsplit store expire news.store --before 2020-01-01",
    ),
    example(
        "New texts of documents that a store has, and the same compared with one batch alone",
        "twinsplit run --input docs.jsonl.gz --store news.store --known-id version --batch-id tuesday --output third; twinsplit run --input docs.jsonl.gz --against news.store --batches tuesday --output fourth",
    ),
    example(
        "Each document of a store: its batch, and which one is kept of its cluster",
        "twinsplit store export news.store --output documents-of-store.jsonl",
    ),
    example(
        "The space that forgotten documents take, and old answers, given back",
        "twinsplit store compact news.store --answers 30",
    ),
    example(
        "A service that says of each document whether it is new, and one that asks it",
        "twinsplit serve seen --listen 127.0.0.1:6381 & until redis-cli -p 6381 FP.CHECKADD news a TEXT 'It rained all day.'; do sleep 0.1; done; kill $!; wait $!",
    ),
    example(
        "All files that a pattern matches, expanded by twinsplit itself; the lines of kept documents too",
        "twinsplit run term-split --input 'crawl/*.jsonl.gz' --tau 0.5 --write-kept --output out2",
    ),
    example(
        "Documents without the paragraphs that stand in earlier ones, and the list of what is cut",
        "twinsplit run doc-split --input docs.jsonl.gz --unit paragraph --tau 0.9 --write-kept --output out9; head -n 3 out9/cut.tsv",
    ),
    example(
        "Documents from standard input",
        "zcat docs.jsonl.gz | twinsplit run doc-split --input - --output out3",
    ),
    example(
        "Why two documents of a run are a pair, or not",
        "twinsplit explain en-05 en-06 --run out2 --show 3",
    ),
    example("A page to look at: clusters, and any two documents side by side", "twinsplit report out2"),
    example(
        "All documents with their clusters, dropped only where nearly all of one stands in the kept one",
        "twinsplit annotate out2 --drop-if-contained 0.95 --output annotated.jsonl.gz",
    ),
    example(
        "What each threshold would merge, on a sample of the documents",
        "twinsplit tune --input docs.jsonl.gz --taus 0.5,0.7,0.9 --kinds words:2,words:5",
    ),
    example(
        "A chain as a script, to be read, changed and run",
        "twinsplit plan doc-split --inline > doc-split.sh; bash doc-split.sh out4 docs.jsonl.gz",
    ),
    example(
        "What a chain will read, shuffle and write, before it runs",
        "twinsplit plan term-split --engine hadoop --estimate --input docs.jsonl.gz --documents 1000000",
    ),
    example(
        "Document frequencies of one collection for the runs of another",
        "twinsplit idf --from docs.jsonl.gz --output table; twinsplit run doc-split --input 'crawl/*' --idf 0.1,1 --idf-table table --output out5",
    ),
    example(
        "Documents of a TREC collection as JSON lines",
        r"printf '<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>It rained.</TEXT>\n</DOC>\n' > news; twinsplit convert news --format trec --output news.jsonl.gz",
    ),
    example(
        "A crawl to measure with, of any size, and a list of its copies",
        "twinsplit generate-corpus --documents 500 --bytes 1M --seed 1 --output made; twinsplit run doc-split --input made --output out7",
    ),
    example(
        "Similar lines of a file of integer sets, for any purpose",
        "printf '%s\\n' '1 2 3' '3 2 1 4' '7 8' > baskets; twinsplit join baskets --tau 0.7",
    ),
    example(
        "An index of fingerprints, and what is within three bits of one",
        "printf 'a\\t00000000000000ff\\nb\\tff00000000000000\\n' > rows; twinsplit fingerprints build rows --output some.index; printf 'q\\t000000000000001f\\n' | twinsplit fingerprints query some.index",
    ),
    example("What an index takes, and whether its file is whole", "twinsplit fingerprints stats some.index"),
    example(
        "Each two of some fingerprints that are within three bits of each other",
        "printf 'a\\t00000000000000ff\\nb\\tff00000000000000\\nc\\t00000000000000f8\\n' > rows; twinsplit fingerprints pairs rows",
    ),
    example(
        "What the layouts take for fifty million fingerprints",
        "twinsplit fingerprints plan --fingerprints 50000000",
    ),
    example(
        "Which documents of a collection are near which of a new crawl, by their fingerprints",
        "zcat docs.jsonl.gz | head -n 20 > new.jsonl; twinsplit run simhash --queries new.jsonl --input crawl --output out8",
    ),
    example("What every stage reads and writes", "twinsplit stages > stages.md"),
    example(
        "The settings of a published experiment",
        "twinsplit run term-split --preset zhang2011 --input crawl --output out6",
    ),
    example(
        "Completions and manual pages for this user alone",
        "twinsplit completions --completions ~/.local/share --man ~/.local/share/man",
    ),
    example("The set of features of each document", "zcat docs.jsonl.gz | tokenize > sets"),
    example(
        "Rows by the hash of their first field into part.0 and part.1, in an order that nothing may rely on",
        "twinsplit partition --fields 1 --parts 2 --to part < sets",
    ),
    example(
        "In how many documents each feature stands",
        "feature-count < sets | LC_ALL=C sort | feature-count-reduce > counts",
    ),
    example("These counts as a table for --idf-table", "idf-table < counts > counts.table"),
    example(
        "The same in a sample of about ten of twenty sets, and no more than can be ordered in one task",
        "feature-sample --order-sample 10 --sets 20 < sets | LC_ALL=C sort | feature-sample-reduce --ranked 100000 | LC_ALL=C sort > sampled-counts",
    ),
    example("The order of features, and those in an IDF range", "feature-order --idf 0.1,1 < counts > order"),
    example(
        "The sets without the features out of this range",
        "idf-filter --order order < sets > filtered-sets",
    ),
    example(
        "The same without a list of features in memory: they are kept by a shuffle",
        "feature-order --idf 0.1,0.95 --idf-lookup shuffle < counts > range; cat counts sets | idf-left --order range | LC_ALL=C sort | idf-left-reduce > kept-features",
    ),
    example(
        "And brought back to their documents",
        "cat kept-features sets | idf-right | LC_ALL=C sort | idf-right-reduce > filtered-again",
    ),
    example(
        "Features that are not the template of one site",
        "zcat docs.jsonl.gz | site-left --site url | LC_ALL=C sort | site-left-reduce > of-more-sites",
    ),
    example(
        "The documents by which --recall chooses bands: those with the smallest hashes of their ids",
        "zcat docs.jsonl.gz | sample-documents | LC_ALL=C sort | sample-documents-reduce > sampled",
    ),
    example(
        "Equal sets joined, one of each and its copies, with what the keep rule needs; an id that stands twice is named here",
        "zcat docs.jsonl.gz | tokenize --meta on --then equal-sets | LC_ALL=C sort | equal-sets-reduce > members",
    ),
    example(
        "Documents as fingerprints, weighed by these counts",
        "zcat docs.jsonl.gz | simhash --weights tf-idf --idf-table counts.table > fingerprints",
    ),
    example(
        "Equal fingerprints joined, one of each and its copies",
        "equal-fingerprints --distance 16 < fingerprints | LC_ALL=C sort | equal-fingerprints-reduce > different-fingerprints",
    ),
    example(
        "The tables in which fingerprints meet",
        "hamming-count < different-fingerprints | hamming-plan > tables",
    ),
    example(
        "Fingerprints in these tables, and those that differ in 16 bits at most",
        "hamming-index --tables tables < different-fingerprints | LC_ALL=C sort | hamming-index-reduce | hamming-pairs > near",
    ),
    example(
        "The pairs of a query, a document of new.jsonl, and one of docs.jsonl: the queries are an index, past which all others stream",
        "tokenize < new.jsonl > queries; zcat docs.jsonl.gz | tokenize --then set-queries --queries queries > pairs-with-queries",
    ),
    example(
        "The queries in parts by their ids, one for each task, and here one",
        "LC_ALL=C sort queries | query-parts > part-of-queries",
    ),
    example(
        "The pairs of all parts as one data set",
        "gather-pairs < pairs-with-queries > all-pairs-with-queries",
    ),
    example(
        "The same of what MinHash finds",
        "zcat docs.jsonl.gz | tokenize --then lsh-queries --queries queries --bands 32 --rows 4 > pairs-with-queries",
    ),
    example(
        "The same of fingerprints that are near",
        "simhash < new.jsonl > queries; zcat docs.jsonl.gz | simhash --then hamming-queries --queries queries > near-queries",
    ),
    example(
        "What is compared of the texts of near fingerprints, here their characters",
        "zcat docs.jsonl.gz | text-content --check edit:0.8 > contents",
    ),
    example(
        "A pair meets its first text, then its second: those whose edit distance is a fifth of the longer one at most",
        "cat near contents | LC_ALL=C sort | text-left > half-compared; cat half-compared contents | LC_ALL=C sort | text-right --check edit:0.8 > compared",
    ),
    example(
        "Term-Split: posting lists, and pairs by counting what they share",
        "index-term < members | LC_ALL=C sort | index-term-reduce | pcp-map | LC_ALL=C sort | pcp-reduce > joined-pairs",
    ),
    example(
        "Term-Split over prefixes: posting lists of rare features, and candidates",
        "feature-order < sampled-counts > all-order; index-term --pcp prefix --order all-order < members | LC_ALL=C sort | index-term-reduce | pcp-map > candidates",
    ),
    example(
        "A candidate meets its first set",
        "cat candidates members | verify-left | LC_ALL=C sort | verify-left-reduce > half-verified",
    ),
    example(
        "A candidate meets its second set, and what they share is counted",
        "cat half-verified members | verify-right | LC_ALL=C sort | verify-right-reduce > verified-pairs",
    ),
    example("MinHash: a signature of each set", "minhash < members > signatures"),
    example(
        "MinHash: documents that agree in a band of their signatures are candidates",
        "lsh-bands < signatures | LC_ALL=C sort | lsh-bands-reduce | lsh-candidates > band-candidates",
    ),
    example(
        "I-Match: documents with the same features in a lexicon are candidates",
        "i-match < members | LC_ALL=C sort | lsh-bands-reduce | lsh-candidates > lexicon-candidates",
    ),
    example(
        "MinHash: the keys of bands that more than one document has, and only these",
        "band-filter --bloom 1 < signatures | LC_ALL=C sort | band-filter-reduce --bloom 1 > repeated-keys; lsh-bands --band-filter repeated-keys < signatures | LC_ALL=C sort > band-postings",
    ),
    example(
        "A candidate meets its first signature",
        "cat band-candidates signatures | match-left | LC_ALL=C sort | match-left-reduce > half-matched",
    ),
    example(
        "A candidate meets its second signature, and their similarity is estimated",
        "cat half-matched signatures | match-right | LC_ALL=C sort | match-right-reduce > estimated-pairs",
    ),
    example(
        "Doc-Split: how many sets have which size, and slices of about equal cost",
        "size-count < members | LC_ALL=C sort | slice-plan --slices 1 > plan",
    ),
    example(
        "Doc-Split: each set to its slice, here the only one",
        "index-doc --plan plan < members | LC_ALL=C sort | index-doc-reduce > slice",
    ),
    example("Doc-Split: all sets past a slice", "docsplit-query --index slice < members > queried-pairs"),
    example(
        "Pairs repeated for the copies of their first document",
        "cat joined-pairs members | expand-left | LC_ALL=C sort | expand-left-reduce > half-expanded",
    ),
    example(
        "Pairs repeated for the copies of their second document: the pairs of all documents",
        "cat half-expanded members | expand-right | LC_ALL=C sort | expand-right-reduce > expanded-pairs",
    ),
    example(
        "Pairs joined to clusters, and the best document of each, in one task",
        "cat joined-pairs members | cluster | LC_ALL=C sort | cluster-reduce > clustered",
    ),
    example(
        "The pairs of all documents, by tasks that know these clusters",
        "cat joined-pairs members | expand-pairs --clustered clustered | LC_ALL=C sort > pairs.tsv",
    ),
    example(
        "The document to keep of each cluster: the final clusters",
        "keep --clustered clustered < members | LC_ALL=C sort | keep-choose | LC_ALL=C sort > clusters.tsv",
    ),
    example(
        "Clusters of many tasks, one of many rounds: each step links documents to smaller ones",
        "cat joined-pairs members | large-star | LC_ALL=C sort | large-star-reduce | small-star | LC_ALL=C sort | small-star-reduce > components",
    ),
    example(
        "Star clusters: each document's component, rank and representative",
        "cat components members | star-rank | LC_ALL=C sort | star-rank-reduce > star-members",
    ),
    example(
        "Star clusters: the pairs of each component, best document first",
        "cat star-members joined-pairs | star-link | LC_ALL=C sort | star-link-reduce > star-links",
    ),
    example(
        "Star clusters: the centres of each component, and who joins them",
        "cat star-links star-members | star | LC_ALL=C sort | star-reduce > star-labels",
    ),
    example(
        "Without pairs: each set with the component and the best rank of the documents that have it",
        "cat star-members members | star-sets | LC_ALL=C sort | star-sets-reduce > sets-of-components",
    ),
    example(
        "The sets of each component held against its centres",
        "cat sets-of-components star-members | star-centres | LC_ALL=C sort | star-centres-reduce > labels-by-sets",
    ),
    example(
        "The same, of sets that have the key of a band in common",
        "cat sets-of-components star-members | star-centres | LC_ALL=C sort | star-bands-reduce > labels-by-bands",
    ),
    example(
        "The same of fingerprints",
        "printf 'a\\t0\\t-\\ta\\ta\\t\\\\#\\t00000000000000ff\\t3\\na\\t0\\t-\\tb\\tb\\t\\\\#\\t00000000000000fe\\t3\\na\\t1\\ta\\ta\\na\\t1\\tb\\tb\\n' | star-fingerprints-reduce > labels-by-fingerprints",
    ),
    example(
        "The best document of each star, and the others' similarity to it",
        "cat star-labels members | keep-rank | LC_ALL=C sort | keep-rank-reduce | LC_ALL=C sort | keep-best | LC_ALL=C sort | keep-choose > star-clusters",
    ),
    example(
        "The lines of all documents that no cluster drops",
        "zcat docs.jsonl.gz | write-kept --clusters clusters.tsv > kept.jsonl",
    ),
];

impl Example {
    /// Whether the line runs this program: `twinsplit` or a stage by its name, `twinsplit run` by both words.
    pub fn runs(&self, program: &str) -> bool {
        let commands = self.line.split(['|', ';', '<', '>']).flat_map(|command| command.split(" --then "));
        commands.into_iter().any(|command| {
            let command = command.trim();
            command == program || command.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '))
        })
    }
}

/// The examples that run a program.
pub fn of(program: &str) -> impl Iterator<Item = &'static Example> {
    EXAMPLES.iter().filter(move |example| example.runs(program))
}
