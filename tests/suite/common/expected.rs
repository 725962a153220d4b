//! From pairs to the bytes of the three files that a run writes.
//!
//! Star clusters are computed by their plain definition, over all documents. The product computes
//! them over one representative of each group of equal sets, ranked by the best member, and lets the
//! copies follow. The two are equal. Members of a group are neighbours of one another (their Jaccard
//! is 1) and have the same neighbours outside. So (1) only the best member g of a group can be a
//! centre: if g is one, every other member has it as an earlier neighbour; if not, the centre that
//! rules g out is an earlier neighbour of theirs too. (2) Whether g is a centre depends on the best
//! members of neighbouring groups alone, by the same rule. (3) Where g is a centre, no neighbour
//! outside is (no two centres are neighbours), so its copies join it; where it is not, all members
//! see the same centres and join the same one. It follows that the document to keep is g itself,
//! which need not be the representative that the join used.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use super::oracle::{Doc, Features, Pair, Similarity, shared, six_decimals};

/// How pairs become clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Components,
    Star,
}

/// Both kinds, for tables.
pub const KINDS: [Kind; 2] = [Kind::Components, Kind::Star];

impl Kind {
    /// The value of `--cluster`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Components => "components",
            Self::Star => "star",
        }
    }
}

/// Which document of a cluster is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    SmallestId,
    First,
    Longest,
    Newest,
    Score,
}

impl Keep {
    /// The options that ask for the rule.
    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::SmallestId => &["--keep", "smallest-id"],
            Self::First => &["--keep", "first"],
            Self::Longest => &["--keep", "longest"],
            Self::Newest => &["--keep", "newest", "--date", "date"],
            Self::Score => &["--keep", "score", "--score", "score"],
        }
    }

    /// The documents' positions, which are those in the input, best first; equals are told apart by the smaller id. A document
    /// without a date is older than any, one without a score is worse than any.
    pub fn order(self, docs: &[Doc]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..docs.len()).collect();
        order.sort_by(|&x, &y| {
            let (a, b) = (&docs[x], &docs[y]);
            let better = match self {
                Self::SmallestId => std::cmp::Ordering::Equal,
                Self::First => return x.cmp(&y),
                Self::Longest => Reverse(a.text.chars().count()).cmp(&Reverse(b.text.chars().count())),
                Self::Newest => Reverse(&a.date).cmp(&Reverse(&b.date)),
                Self::Score => Reverse(a.score).cmp(&Reverse(b.score)),
            };
            better.then_with(|| a.id.as_bytes().cmp(b.id.as_bytes()))
        });
        order
    }
}

/// What a run should write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub pairs: String,
    pub clusters: String,
    pub kept: String,
}

impl Expected {
    /// Renders the three files. `sets` are the sets as they were joined, `texts` those that are compared as a whole.
    pub fn new(
        docs: &[Doc],
        sets: &[Features],
        texts: &[Option<String>],
        pairs: &[Pair],
        kind: Kind,
        keep: Keep,
    ) -> Self {
        Self::by(Similarity::Jaccard, (docs, sets, texts), pairs, kind, keep)
    }

    /// The same for pairs of another similarity.
    pub fn by(
        similarity: Similarity,
        (docs, sets, texts): (&[Doc], &[Features], &[Option<String>]),
        pairs: &[Pair],
        kind: Kind,
        keep: Keep,
    ) -> Self {
        let clusters = clusters(docs, texts, pairs, kind, keep);
        Self::of_clusters(similarity, (docs, sets, texts), pairs, &clusters)
    }

    /// The same for these clusters: the document to keep of each, and all members.
    pub fn of_clusters(
        similarity: Similarity,
        (docs, sets, texts): (&[Doc], &[Features], &[Option<String>]),
        pairs: &[Pair],
        clusters: &BTreeMap<usize, Vec<usize>>,
    ) -> Self {
        Self {
            pairs: pair_lines(similarity, docs, sets, pairs),
            clusters: cluster_lines(similarity, docs, sets, texts, clusters),
            kept: kept_lines(docs, clusters),
        }
    }
}

/// Clusters of two and more: the document to keep, and all members. Documents with equal texts are neighbours of one
/// another, as those of a pair are.
pub fn clusters(
    docs: &[Doc],
    texts: &[Option<String>],
    pairs: &[Pair],
    kind: Kind,
    keep: Keep,
) -> BTreeMap<usize, Vec<usize>> {
    let mut neighbours = vec![Vec::new(); docs.len()];
    let mut link = |a: usize, b: usize| {
        neighbours[a].push(b);
        neighbours[b].push(a);
    };
    pairs.iter().for_each(|pair| link(pair.a, pair.b));
    let mut same: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (b, text) in texts.iter().enumerate() {
        if let Some(text) = text {
            let earlier = same.entry(text).or_default();
            earlier.iter().for_each(|&a| link(a, b));
            earlier.push(b);
        }
    }
    let order = keep.order(docs);
    let found = match kind {
        Kind::Components => components(&order, &neighbours),
        Kind::Star => stars(&order, &neighbours),
    };
    found.into_iter().filter(|(_, members)| members.len() > 1).collect()
}

/// Connected components, each found from its best document by a walk in breadth.
fn components(order: &[usize], neighbours: &[Vec<usize>]) -> BTreeMap<usize, Vec<usize>> {
    let mut seen = vec![false; neighbours.len()];
    let mut found = BTreeMap::new();
    for &best in order {
        if seen[best] {
            continue;
        }
        seen[best] = true;
        let mut members = Vec::new();
        let mut queue = VecDeque::from([best]);
        while let Some(document) = queue.pop_front() {
            members.push(document);
            for &next in &neighbours[document] {
                if !seen[next] {
                    seen[next] = true;
                    queue.push_back(next);
                }
            }
        }
        found.insert(best, members);
    }
    found
}

/// Stars: in order, a document is a centre unless an earlier neighbour is one; the others join their
/// earliest neighbour that is a centre.
fn stars(order: &[usize], neighbours: &[Vec<usize>]) -> BTreeMap<usize, Vec<usize>> {
    let mut place = vec![0; neighbours.len()];
    for (at, &document) in order.iter().enumerate() {
        place[document] = at;
    }
    let mut centre = vec![false; neighbours.len()];
    for &document in order {
        let earlier = |n: &&usize| place[**n] < place[document];
        centre[document] = !neighbours[document].iter().filter(earlier).any(|&n| centre[n]);
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &document in order {
        let joined = if centre[document] {
            document
        } else {
            let centres = neighbours[document].iter().copied().filter(|&n| centre[n]);
            centres.min_by_key(|&n| place[n]).expect("one that ruled it out")
        };
        found.entry(joined).or_default().push(document);
    }
    found
}

fn pair_lines(similarity: Similarity, docs: &[Doc], sets: &[Features], pairs: &[Pair]) -> String {
    // Jaccard's lines do not name it; those of containment say what the sizes make of the pair.
    let name = |a: usize, b: usize| match similarity {
        Similarity::Jaccard => String::new(),
        Similarity::Containment => {
            let relation = match a.max(b) as f64 / a.min(b) as f64 {
                ratio if ratio <= 2.0 => "duplicate",
                _ if a > b => "contains",
                _ => "contained",
            };
            format!("\t{}\t{relation}", six_decimals(a.min(b), a.max(b)))
        }
        other => format!("\t{}", other.name()),
    };
    sorted(pairs.iter().map(|pair| {
        let (mut a, mut b) = (pair.a, pair.b);
        if docs[a].id.as_bytes() > docs[b].id.as_bytes() {
            (a, b) = (b, a);
        }
        format!(
            "{}\t{}\t{}\t{}\t{}\t{}{}",
            docs[a].id,
            docs[b].id,
            pair.overlap,
            sets[a].len(),
            sets[b].len(),
            similarity.written(pair.overlap, sets[a].len(), sets[b].len()),
            name(sets[a].len(), sets[b].len()),
        )
    }))
}

fn cluster_lines(
    similarity: Similarity,
    docs: &[Doc],
    sets: &[Features],
    texts: &[Option<String>],
    clusters: &BTreeMap<usize, Vec<usize>>,
) -> String {
    let rows = clusters.iter().flat_map(|(&kept, members)| members.iter().map(move |&m| (kept, m)));
    sorted(rows.map(|(kept, member)| {
        let (kept_id, id) = (&docs[kept].id, &docs[member].id);
        if kept == member {
            return format!("{kept_id}\t{id}\tkeep\t-");
        }
        if texts[member].is_some() && texts[member] == texts[kept] {
            // No set of such a text is compared, and so no features are counted.
            let equal = if similarity == Similarity::Overlap { "-" } else { "1.000000" };
            return format!("{kept_id}\t{id}\tdrop\t{equal}");
        }
        let overlap = shared(&sets[kept], &sets[member]);
        let written = similarity.written(overlap, sets[kept].len(), sets[member].len());
        format!("{kept_id}\t{id}\tdrop\t{written}")
    }))
}

fn kept_lines(docs: &[Doc], clusters: &BTreeMap<usize, Vec<usize>>) -> String {
    let mut dropped = vec![false; docs.len()];
    for (kept, members) in clusters {
        for member in members {
            dropped[*member] = member != kept;
        }
    }
    let kept = docs.iter().zip(dropped).filter(|(_, dropped)| !dropped);
    kept.map(|(doc, _)| format!("{}\n", doc.line)).collect()
}

/// Lines in the order of `LC_ALL=C sort`.
fn sorted(lines: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines.into_iter().map(|line| line + "\n").collect()
}
