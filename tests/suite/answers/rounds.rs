//! Clusters in rounds of many tasks: the declared steps, run in memory on graphs that are made to be awkward, give what
//! one task with the whole graph gives; and a run through pipes loops, reports and resumes.

use crate::common::cli::{Place, fixture, search_path};
use crate::common::harness::bash;
use crate::common::rng::Rng;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use twinsplit_core::cluster::groups::star_of_groups;
use twinsplit_core::cluster::union_find::UnionFind;
use twinsplit_core::similarity::Measure;
use twinsplit_rows::chains::{FAMILIES, Part, Step, Wanted};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::cluster::Label;
use twinsplit_rows::record::meta::{InputPlace, Meta};
use twinsplit_rows::record::pair::Pair;
use twinsplit_rows::record::set::Copy;
use twinsplit_rows::record::set::Member;
use twinsplit_rows::record::{Record, key_end};
use twinsplit_rows::stage::{Counters, Entry, Runner, Task};
use twinsplit_rows::stages::components::CHANGES;
use twinsplit_rows::stages::find;

type Rows = Vec<Vec<u8>>;
/// Documents with their labels.
type Labels = Vec<(Vec<u8>, Vec<u8>)>;

/// How the steps are run.
struct Cluster {
    maps: usize,
    reducers: usize,
    params: Params,
    rng: Rng,
}

impl Cluster {
    fn new(maps: usize, reducers: usize, params: &[(&str, &str)], seed: u64) -> Self {
        let mut all = Params::default();
        params.iter().for_each(|(name, value)| all.set(name, *value));
        Self { maps, reducers, params: all, rng: Rng::new(seed) }
    }

    fn task(&self, entry: &Entry, rows: &[Vec<u8>], counters: &mut Counters) -> Rows {
        let mut out = Rows::new();
        let mut task = Task::new(entry, 0, PathBuf::from("."), &mut out);
        let mut runner = Runner::open(entry, &self.params.values_for(entry, &[]), &mut task).unwrap();
        rows.iter().for_each(|row| runner.row(row, &mut task).unwrap());
        runner.finish(&mut task).unwrap();
        for (name, count) in &task.counters {
            *counters.entry(name.clone()).or_default() += count;
        }
        out
    }

    /// Mappers on any shares of the rows, reducers on what is theirs, equal keys in any order.
    fn step(&mut self, step: &Step, mut rows: Rows) -> (Rows, Counters) {
        let [map] = &step.map[..] else { panic!("{} has one mapper", step.name) };
        let (map, reduce) = (find(map).unwrap(), find(step.reduce.unwrap()).unwrap());
        let (mut counters, mut shuffled) = (Counters::new(), Rows::new());
        self.rng.shuffle(&mut rows);
        for number in 0..self.maps {
            let share: Rows = rows.iter().skip(number).step_by(self.maps).cloned().collect();
            shuffled.extend(self.task(map, &share, &mut counters));
        }
        self.rng.shuffle(&mut shuffled);
        let keys = reduce.input.keys.unwrap();
        let key = |row: &[u8], fields| row[..key_end(row, fields)].to_vec();
        let mut parts = vec![Rows::new(); self.reducers];
        for row in shuffled {
            let hash =
                key(&row, keys.partition).iter().fold(7usize, |h, b| h.wrapping_mul(31) + usize::from(*b));
            parts[hash % self.reducers].push(row);
        }
        let mut written = Rows::new();
        for mut part in parts {
            part.sort_by_key(|row| key(row, keys.sort));
            written.extend(self.task(reduce, &part, &mut counters));
        }
        (written, counters)
    }

    /// The parts of the declared chain that make labels of a graph, and the number of rounds.
    fn labels(&mut self, star: bool, graph: &Graph) -> (Labels, usize) {
        // Stars of a graph are made of its pairs where these are written, and else of sets, of which a graph knows nothing.
        let (kind, write) = if star { ("star", "pairs") } else { ("components", "clusters") };
        let params = Params::default().with("cluster", kind).with("write", write);
        let mut data: BTreeMap<&str, Rows> = graph.data();
        let mut rounds = 0;
        let parts = FAMILIES[0].chain(&params, Wanted { rounds: true, kept: false }).parts();
        let choice = parts.iter().find_map(|part| match part {
            Part::Choice(choice) => Some(choice),
            Part::Step(_) | Part::Repeat(_) => None,
        });
        let parts = &choice.unwrap().many;
        let first = parts.iter().position(|part| matches!(part, Part::Repeat(_))).unwrap();
        for part in &parts[first..] {
            let read = |data: &BTreeMap<&str, Rows>, step: &Step| {
                step.inputs.iter().flat_map(|input| data[input].clone()).collect::<Rows>()
            };
            match part {
                Part::Step(step) => {
                    let rows = read(&data, step);
                    let made = self.step(step, rows).0;
                    data.insert(step.output, made);
                }
                Part::Repeat(repeat) => {
                    let mut rows = read(&data, &repeat.steps[0]);
                    let [first, others @ ..] = &repeat.steps[..] else { panic!("no steps") };
                    loop {
                        rounds += 1;
                        let (made, counters) = self.step(first, rows);
                        rows = made;
                        if counters[repeat.until_zero] == 0 {
                            break;
                        }
                        rows = others.iter().fold(rows, |rows, step| self.step(step, rows).0);
                        assert!(rounds < 100, "the rounds do not end");
                    }
                    data.insert(repeat.to, rows);
                }
                Part::Choice(_) => panic!("a choice within a choice"),
            }
            if let Some(rows) = data.get("labels") {
                let labels = rows.iter().map(|row| {
                    let label = Label::decode(row).unwrap();
                    (label.id.to_vec(), label.label.to_vec())
                });
                return (labels.collect(), rounds);
            }
        }
        panic!("no step writes labels");
    }
}

/// Documents by number: pairs of representatives, copies with their representatives, lengths.
#[derive(Clone, Debug, Default)]
struct Graph {
    ids: Vec<Vec<u8>>,
    pairs: Vec<(usize, usize)>,
    copies: Vec<(usize, usize)>,
    lengths: Vec<u64>,
}

impl Graph {
    fn data(&self) -> BTreeMap<&'static str, Rows> {
        let row = |record: &dyn Fn(&mut Vec<u8>)| {
            let mut row = Vec::new();
            record(&mut row);
            row
        };
        let id = |x: &usize| self.ids[*x].as_slice();
        let pairs = self
            .pairs
            .iter()
            .map(|(x, y)| row(&|out| Pair::of(Measure::Jaccard, (id(x), 1), (id(y), 1), 1).encode(out)));
        let copies = self.copies.iter().map(|(x, y)| {
            row(&|out| Member::Copy(Copy { id: id(x), representative: id(y), size: 1 }).encode(out))
        });
        let meta = self.ids.iter().zip(&self.lengths).map(|(id, length)| {
            row(&|out| {
                Meta {
                    id,
                    length: *length,
                    date: b"",
                    score: b"",
                    script: b"Latin",
                    place: InputPlace::default(),
                    file: b"",
                    line: 1,
                }
                .encode(out)
            })
        });
        // A set whose only field looks like an id.
        let set = row(&|out| out.extend_from_slice(b"alone\t00000000000000aa"));
        BTreeMap::from([
            ("joined-pairs", pairs.collect()),
            ("members", copies.chain([set]).chain(meta).collect()),
        ])
    }

    /// The numbers of the documents that some pair or copy links to another one.
    fn linked(&self) -> BTreeSet<usize> {
        let edges = self.pairs.iter().chain(&self.copies).filter(|(x, y)| x != y);
        edges.flat_map(|(x, y)| [*x, *y]).collect()
    }

    fn labelled(&self, label_of: impl Fn(usize) -> usize) -> Labels {
        let mut labels: Vec<_> =
            self.linked().into_iter().map(|x| (self.ids[x].clone(), self.ids[label_of(x)].clone())).collect();
        labels.sort();
        labels
    }

    /// By union-find on numbers in the order of the ids.
    fn components(&self) -> Labels {
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        order.sort_by_key(|x| &self.ids[*x]);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, x)| place[*x] = at as u32);
        let mut sets = UnionFind::new(order.len() as u32);
        for (x, y) in self.pairs.iter().chain(&self.copies) {
            sets.union(place[*x], place[*y]);
        }
        let labels = sets.into_labels();
        self.labelled(|x| order[labels[place[x] as usize] as usize])
    }

    /// By the pass over groups in one task, longest first.
    fn stars(&self) -> Labels {
        let narrow = |edges: &[(usize, usize)]| -> Vec<(u32, u32)> {
            edges.iter().map(|(x, y)| (*x as u32, *y as u32)).collect()
        };
        let key = |x: u32| (std::cmp::Reverse(self.lengths[x as usize]), &self.ids[x as usize]);
        let labels = star_of_groups(self.ids.len(), &narrow(&self.copies), &narrow(&self.pairs), key);
        self.labelled(|x| labels[x] as usize)
    }
}

/// Different ids of any bytes that an id may have.
fn any_ids() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![Just(b' '), Just(b'='), Just(b'>'), Just(b'0'), Just(b'~'), 0x20u8..=0xff];
    // A backslash stands before an escaped byte alone, which is what tags rely on.
    let byte = byte.prop_filter("no escape", |byte| *byte != b'\\');
    prop::collection::btree_set(prop::collection::vec(byte, 1..4), 2..40)
        .prop_map(|ids| ids.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

/// Groups of copies, and pairs of their representatives; repeats, and documents paired with themselves, among them.
fn any_graph() -> impl Strategy<Value = Graph> {
    let edges = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..60);
    let lengths = prop::collection::vec(0u64..4, 40);
    (any_ids(), edges, prop::collection::vec(0usize..12, 40), lengths).prop_map(
        |(ids, edges, groups, lengths)| {
            let n = ids.len();
            let representative =
                |x: usize| groups[..=x].iter().position(|group| *group == groups[x]).unwrap();
            // The later documents are alone, so that there are pairs enough.
            let of = |x: usize| if x < n / 2 { representative(x) } else { x };
            let pairs = edges.iter().map(|(x, y)| (of(x.index(n)), of(y.index(n))));
            let mut pairs: Vec<_> = pairs.collect();
            pairs.extend_from_within(..pairs.len() / 4);
            let copies = (0..n).filter(|x| of(*x) != *x).map(|x| (x, of(x))).collect();
            Graph { lengths: lengths[..n].to_vec(), ids, pairs, copies }
        },
    )
}

/// Odd ids and short tables, so that a mapper starts many forests.
fn any_cluster() -> impl Strategy<Value = (usize, usize, usize, u64)> {
    (1usize..5, 1usize..5, prop_oneof![2usize..20, Just(1000)], any::<u64>())
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rounds_find_the_components(graph in any_graph(), (maps, reducers, forest, seed) in any_cluster()) {
        let mut cluster = Cluster::new(maps, reducers, &[("forest", &forest.to_string())], seed);
        let (mut labels, rounds) = cluster.labels(false, &graph);
        labels.sort();
        prop_assert_eq!(labels, graph.components());
        prop_assert!(rounds <= 8, "{} rounds", rounds);
        prop_assert!(maps > 1 || forest < 1000 || rounds == 1, "one task has seen all");
    }

    #[test]
    fn passes_find_the_stars(graph in any_graph(), (maps, reducers, forest, seed) in any_cluster()) {
        let params = [("forest", &*forest.to_string()), ("keep", "longest")];
        let (mut labels, _) = Cluster::new(maps, reducers, &params, seed).labels(true, &graph);
        labels.sort();
        prop_assert_eq!(labels, graph.stars());
    }
}

/// Chains are the worst graphs: ids in order, from both ends in turn, and in any order.
#[test]
fn long_chains_take_few_rounds() {
    let n = 1000;
    let mut rng = Rng::new(7);
    let ascending: Vec<usize> = (0..n).collect();
    let mut any = ascending.clone();
    rng.shuffle(&mut any);
    let zigzag = (0..n).map(|x| if x % 2 == 0 { x / 2 } else { n - 1 - x / 2 }).collect();
    for (name, order) in [("ascending", ascending), ("zigzag", zigzag), ("any", any)] {
        let ids = order.iter().map(|x| format!("{x:04}").into_bytes()).collect();
        let pairs = (1..n).map(|x| (x - 1, x)).collect();
        let graph = Graph { ids, pairs, copies: vec![], lengths: vec![1; n] };
        for (maps, forest) in [(1, 1_000_000), (3, 1_000_000), (3, 100), (3, 2)] {
            let mut cluster = Cluster::new(maps, 2, &[("forest", &forest.to_string())], 11);
            let (mut labels, rounds) = cluster.labels(false, &graph);
            labels.sort();
            assert_eq!(labels, graph.components());
            println!("chain of {n}, {name}: {maps} mappers with forests of {forest}: {rounds} rounds");
            assert!(rounds <= if maps == 1 { 1 } else { 12 }, "{rounds} rounds");
        }
    }
}

/// Two smaller neighbours of one document, which no document below them has too, are a change to make.
#[test]
fn a_round_without_changes_has_found_stars() {
    let ids: Vec<Vec<u8>> = ["a", "b", "x", "y"].map(|id| id.as_bytes().to_vec()).into();
    let graph = Graph { ids, pairs: vec![(0, 2), (1, 2), (1, 3)], copies: vec![], lengths: vec![1; 4] };
    for seed in 0..50 {
        let (mut labels, rounds) = Cluster::new(3, 2, &[("forest", "2")], seed).labels(false, &graph);
        labels.sort();
        assert_eq!(labels, graph.components(), "seed {seed}, {rounds} rounds");
    }
}

fn run_json(here: &Place, output: &str) -> serde_json::Value {
    serde_json::from_str(&here.read(&format!("{output}/run.json"))).unwrap()
}

/// Real pages through pipes, in forests so small that there are several rounds: the same clusters, and each round in
/// `run.json`.
#[test]
fn pipes_report_their_rounds() {
    let here = Place::new();
    let input = fixture("documents/en.jsonl.gz").display().to_string();
    for kind in ["components", "star"] {
        for more in ["--keep smallest-id", "--keep longest --write clusters"] {
            let base = format!("--quiet --tau 0.3 --cluster {kind} {more} --input {input} --overwrite");
            here.say(&format!("twinsplit run doc-split {base} --output local")).ok();
            here.say(&format!(
                "twinsplit run doc-split {base} --engine pipes --graph 0 --forest 3 --output pipes"
            ))
            .ok();
            let clusters = here.read("local/clusters.tsv");
            assert!(clusters.lines().count() > 100);
            assert_eq!(here.read("pipes/clusters.tsv"), clusters, "{kind} {more}");
            let run = run_json(&here, "pipes");
            let steps: Vec<&str> =
                run["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
            let rounds = steps.iter().filter(|step| step.starts_with("large-star-")).count();
            let changes =
                |round: usize| run["counters"][format!("large-star-{round}")][CHANGES].as_u64().unwrap();
            println!("{kind} {more}: changes in {:?}", (1..=rounds).map(changes).collect::<Vec<_>>());
            assert!(rounds >= 2);
            for round in 1..=rounds {
                let first = steps.iter().position(|step| *step == format!("large-star-{round}")).unwrap();
                let next = match (round == rounds, kind) {
                    (false, _) => format!("small-star-{round}"),
                    (true, "star") => "star-rank".to_owned(),
                    (true, _) => "keep-rank".to_owned(),
                };
                assert_eq!(steps[first + 1], next);
                assert_eq!(changes(round) == 0, round == rounds, "round {round} of {rounds}");
                assert!(run["seconds"]["steps"][steps[first]].as_f64().unwrap() > 0.0);
            }
        }
    }
}

/// A script that was stopped in a round goes on with it, and does no finished round again.
#[test]
fn a_script_goes_on_inside_a_round() {
    let here = Place::new();
    let plan = here.say("twinsplit plan doc-split --tau 0.3 --graph 0 --forest 3 --inline").ok();
    here.write("script", plan);
    let input = fixture("documents/en.jsonl.gz");
    let script = |resume: &str| {
        let mut line = bash();
        line.args(["script", "out"]).arg(&input).env("PATH", search_path()).env("RESUME", resume);
        here.run(line, "")
    };
    let said = script("");
    let rounds = said.err.lines().filter(|line| line.starts_with("round ")).count();
    assert!(rounds >= 2, "{}", said.err);
    said.ok();
    let clusters = here.read("out/clusters.tsv");
    // As if it had been stopped in the last round's step.
    std::fs::remove_file(here.path("out/clusters.tsv")).unwrap();
    for gone in ["labels", "ranked", "clusters"] {
        std::fs::remove_dir_all(here.path("out/_work").join(gone)).unwrap();
    }
    std::fs::create_dir_all(here.path(&format!("out/_work/large-stars-{rounds}.partial/rest"))).unwrap();
    let stamp = |data: &str| {
        here.path("out/_work").join(data).join("part-00000").metadata().unwrap().modified().unwrap()
    };
    let (first, last) = (stamp("large-stars-1"), stamp(&format!("small-stars-{}", rounds - 1)));
    let said = script("1");
    for step in ["large-star-1".to_owned(), "small-star-1".to_owned(), format!("small-star-{}", rounds - 1)] {
        assert!(said.err.contains(&format!("{step}: finished before")), "{}", said.err);
    }
    assert!(said.err.contains(&format!("large-star-{rounds}: Links")), "{}", said.err);
    said.ok();
    assert_eq!((first, last), (stamp("large-stars-1"), stamp(&format!("small-stars-{}", rounds - 1))));
    assert_eq!(here.read("out/clusters.tsv"), clusters);
    // When the rounds are over, none of them is looked at again.
    std::fs::remove_file(here.path("out/clusters.tsv")).unwrap();
    std::fs::remove_dir_all(here.path("out/_work/clusters")).unwrap();
    let said = script("1");
    assert!(!said.err.contains("round ") && said.err.contains("keep-best: finished before"), "{}", said.err);
    said.ok();
    assert_eq!(here.read("out/clusters.tsv"), clusters);
}
