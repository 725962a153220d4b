//! The pairs that decide over star clusters, without those that do not.
//!
//! In keep order, a set is a centre unless an earlier set that it is similar to is one, and otherwise joins the first such centre
//! ([`Stars`](crate::cluster::star::Stars)). So pairs of two sets that are no centres decide nothing, and of sets that are alike nearly all
//! are such: 20,000 pages of one template are 200 million pairs, of which 19,999 make the star. They are left out here, and the stars are those of all
//! pairs:
//!
//! 1. **Members.** In each part, sets with least hashes in common are taken in keep order, and one that is similar to an earlier one that is no member is
//!    a *member* ([`neighbours`](super::neighbours)). A guess, for that one may turn out to be no centre.
//! 2. **Pairs** with at least one set that is no member: all sets are held against an index of those that are none, and those that are none against
//!    an index of the members.
//! 3. **Check.** These pairs make stars. A member that has a centre there is no centre, whatever the pairs between members are. The others are members no
//!    longer: their pairs are found as well, and so on until each member has a centre.
//!
//! Then all is known that decides: of each set before that is no member all pairs, and of each member its pairs with all centres. By induction in keep
//! order every set has the centre that all pairs would give it.

use super::bitmap_index::Costs;
use super::neighbours::Sketched;
use super::parallel::{Asked, PartIndex, Shard, Sink, Source, load_part, queries_between, queries_of};
use super::strategy::JoinStrategy;
use super::{Index, Purpose, Scratch, Work};
use crate::join::sets::Sets;
use crate::similarity::Similarity;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What of a set's pairs is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// All, next.
    Open,
    /// Those with sets of another role.
    Member,
    /// All, before.
    Known,
}

/// After so many rounds guesses have been no good, and all pairs that are left are found in one more.
const ROUNDS: usize = 4;

/// The pairs of a collection that decide over its stars, in rounds.
pub struct StarJoin<'s, S> {
    source: &'s S,
    similarity: Similarity,
    threads: usize,
    /// By set.
    roles: Vec<Role>,
    /// How many rounds there were.
    rounds: usize,
    /// How many pairs were compared to find members.
    compared: u64,
}

impl<'s, S: Source> StarJoin<'s, S> {
    /// Finds members. `ranks` are by set, the lowest the first in keep order; parts are as in [`join_shards`](super::join_shards).
    pub fn new(
        source: &'s S,
        parts: &[Shard],
        similarity: impl Into<Similarity>,
        ranks: &[u32],
        threads: usize,
    ) -> Result<Self, S::Error> {
        let similarity = similarity.into();
        let mut join = Self {
            source,
            similarity,
            threads,
            roles: vec![Role::Open; source.sets()],
            rounds: 0,
            compared: 0,
        };
        let (mut buffer, mut share) = (Sets::default(), Sets::default());
        for part in parts.iter().filter(|part| part.len() > 0) {
            let (sets, range) = load_part(source, *part, &mut buffer, &mut share)?;
            let mut order: Vec<u32> = (0..part.len() as u32).collect();
            order.sort_unstable_by_key(|local| ranks[part.number(*local as usize)]);
            let (compared, members) =
                Sketched::new(sets, range, similarity, threads).members(&order, threads);
            join.compared += compared;
            members.iter().for_each(|local| join.roles[part.number(*local as usize)] = Role::Member);
        }
        Ok(join)
    }

    /// Whether there may be another round.
    pub fn has_members(&self) -> bool {
        self.roles.contains(&Role::Member)
    }

    /// Hands the pairs of a round to `sink`, with an index over some sets of one part at a time. Gives what that took.
    ///
    /// Parts, progress and panics are as in [`join_shards`](super::join_shards).
    pub fn round<E: From<S::Error> + Send>(
        &mut self,
        parts: &[Shard],
        on_progress: &(dyn Fn(usize) + Sync),
        sink: &Sink<'_, E>,
    ) -> Result<Work, E> {
        let mut work = Work { candidates: std::mem::take(&mut self.compared), ..Work::default() };
        let mut scratches: Vec<Scratch> = (0..self.threads.max(1)).map(|_| Scratch::default()).collect();
        let (mut buffer, mut share) = (Sets::default(), Sets::default());
        for part in parts.iter().filter(|part| part.len() > 0) {
            let sets = load_part(self.source, *part, &mut buffer, &mut share)?;
            let of_part = (*part, sets);
            let told = AtomicUsize::new(0);
            let tell = |sets| {
                told.fetch_add(sets, Ordering::Relaxed);
                on_progress(sets);
            };
            work.shards += 1;
            work += self.against(Role::Open, of_part.clone(), &mut scratches, &tell, sink)?;
            work += self.against(Role::Member, of_part, &mut scratches, &|_| (), sink)?;
            // Of these, those that are in no pair with the open ones by their sizes.
            on_progress(queries_of(self.source, part, self.similarity).len() - told.into_inner());
        }
        self.roles.iter_mut().filter(|role| **role == Role::Open).for_each(|role| *role = Role::Known);
        Ok(work)
    }

    /// Holds the sets whose pairs are asked for against those of a part in one role.
    fn against<E: From<S::Error> + Send>(
        &self,
        role: Role,
        (part, (sets, range)): (Shard, (&Sets, Range<usize>)),
        scratches: &mut [Scratch],
        on_progress: &(dyn Fn(usize) + Sync),
        sink: &Sink<'_, E>,
    ) -> Result<Work, E> {
        let Self { source, similarity, threads, roles, .. } = self;
        let in_role = |local: &usize| roles[part.number(*local)] == role;
        let locals: Vec<usize> = (0..part.len()).filter(in_role).collect();
        let numbers: Vec<u32> = locals.iter().map(|local| part.number(*local) as u32).collect();
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return Ok(Work::default());
        };
        let queries = queries_between(*source, *first as usize, *last as usize, *similarity);
        let own = (locals.len() < part.len()).then(|| {
            let row = |local: &usize| (sets.get(range.start + local), sets.singleton(range.start + local));
            Sets::of(&locals.iter().map(row).collect::<Vec<(&[u32], usize)>>(), *threads)
        });
        let (sets, range) = own.as_ref().map_or((sets, range.clone()), |own| (own, 0..own.len()));
        let index = match role {
            // Few sets ask it, and those of a sample would be as alike as these are.
            Role::Member => {
                let strategy = Some(JoinStrategy { common: 1, bitmaps: false, words: false });
                let costs = Costs { strategy, ..Costs::default() };
                let (asked, classes) = ((*similarity, Purpose::SelfJoin), sets.classes().clone());
                Index::build_at(sets, range, asked, classes, costs, *threads)
            }
            _ => Index::build_to_join(sets, range, *similarity, Asked::Pairs, *threads),
        };
        let asks = |x: usize| roles[x] == Role::Open || role == Role::Open && roles[x] == Role::Member;
        PartIndex { index, numbers, asks }.hold(*source, queries, scratches, on_progress, sink)
    }

    /// Takes in what stars the pairs of all rounds make: whether there is another round, because members are centres there.
    pub fn next_round(&mut self, is_centre: impl Fn(usize) -> bool) -> bool {
        self.rounds += 1;
        let mut members: Vec<usize> =
            (0..self.roles.len()).filter(|set| self.roles[*set] == Role::Member).collect();
        let goes_on = members.iter().any(|set| is_centre(*set));
        if self.rounds < ROUNDS {
            members.retain(|set| is_centre(*set));
        }
        if goes_on {
            members.iter().for_each(|set| self.roles[*set] = Role::Open);
        }
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{corpus, templates, truth_pairs, ways_to_cut, with_classes};
    use super::*;
    use crate::cluster::star::star;
    use crate::similarity::tau::Tau;
    use crate::similarity::tests::all;
    use crate::threads::{lock, unlocked};
    use proptest::prelude::*;
    use std::convert::Infallible;
    use std::sync::Mutex;

    /// The centre of each set, what finding them took, and how many pairs and rounds.
    fn stars(
        sets: &Sets,
        parts: &[Shard],
        similarity: Similarity,
        ranks: &[u32],
        threads: usize,
    ) -> (Vec<u32>, Work, (usize, usize)) {
        let Ok(mut join) = StarJoin::new(sets, parts, similarity, ranks, threads);
        let (pairs, mut work, mut rounds) = (Mutex::new(Vec::new()), Work::default(), 0);
        loop {
            rounds += 1;
            let Ok::<Work, Infallible>(of_round) = join.round(parts, &|_| (), &|pairs_found| {
                lock(&pairs).extend(pairs_found.iter().map(|pair| (pair.a, pair.b)));
                Ok(())
            });
            work += of_round;
            let found = star(sets.len(), ranks, &lock(&pairs));
            if !join.next_round(|set| found[set] as usize == set) {
                let mut pairs = unlocked(pairs);
                let count = pairs.len();
                pairs.sort_unstable();
                pairs.dedup();
                assert_eq!(pairs.len(), count, "a pair came twice");
                return (found, work, (count, rounds));
            }
        }
    }

    /// An order of so many.
    fn shuffled(count: usize, seed: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_key(|number| {
            (u64::from(*number) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        });
        order
    }

    fn check(sets: &Sets, tau: Tau, least: u64, parts: usize, seed: u64) -> Result<(), TestCaseError> {
        let ranks = shuffled(sets.len(), seed);
        for similarity in all(tau, least) {
            let pairs: Vec<(u32, u32)> =
                truth_pairs(sets, similarity).iter().map(|pair| (pair.a, pair.b)).collect();
            let expected = star(sets.len(), &ranks, &pairs);
            for parts in &ways_to_cut(sets, parts, similarity) {
                let one = stars(sets, parts, similarity, &ranks, 1);
                prop_assert_eq!(&one.0, &expected, "{:?} {:?}", similarity, parts);
                prop_assert!(one.2.0 <= pairs.len());
                for threads in 2..4 {
                    prop_assert_eq!(&stars(sets, parts, similarity, &ranks, threads), &one);
                }
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// The stars of all pairs, for every similarity, order, parts of any kind and any number of threads; what it took does not
        /// depend on threads.
        #[test]
        fn stars_are_those_of_all_pairs(
            seed: u64, count in 0usize..80, vocabulary in prop_oneof![1usize..60, 500usize..3000], longest in 1usize..40,
            singleton in 0usize..6, billionths in 1u32..=1_000_000_000, least in 1u64..9, parts in 1usize..5,
            of_class in 1u32..4,
        ) {
            let sets = with_classes(&corpus(seed, count, vocabulary, longest, true, singleton), of_class);
            let Some(tau) = Tau::from_billionths(billionths) else { return Ok(()) };
            check(&sets, tau, least, parts, seed)?;
        }

        /// The same where sets are nearly equal.
        #[test]
        fn stars_of_near_equal_sets(
            seed: u64, count in 0usize..120, of in 1usize..4, others in 0usize..3, size in 5usize..60, exchanged in 0usize..12, tenths in 1u32..=10,
            least in 1u64..9, parts in 1usize..5,
        ) {
            let tau: Tau = format!("{}.{}", tenths / 10, tenths % 10).parse().unwrap();
            check(&templates(seed, count, (of, others), size, exchanged), tau, least, parts, seed)?;
        }
    }

    /// Members whose centre turns out to be none have further rounds.
    #[test]
    fn members_without_a_centre_have_another_round() {
        let tau: Tau = "0.6".parse().unwrap();
        let most = (0..20)
            .map(|seed| {
                let sets = templates(seed, 120, (3, 1), 30, 12);
                stars(&sets, &[Shard::range(0..sets.len())], tau.into(), &shuffled(sets.len(), seed), 2).2.1
            })
            .max();
        assert!(most > Some(1) && most <= Some(ROUNDS + 1), "{most:?} rounds");
    }

    /// Twice as many near-equal sets take twice as many pairs and comparisons, not four times.
    #[test]
    fn near_equal_sets_are_held_against_their_centre() {
        let tau: Tau = "0.7".parse().unwrap();
        let of = |count: usize| {
            let sets = templates(7, count, (1, 0), 80, 4);
            let (found, work, (pairs, _)) =
                stars(&sets, &[Shard::range(0..count)], tau.into(), &shuffled(count, 1), 2);
            let centres = found.iter().enumerate().filter(|(set, centre)| *set == **centre as usize).count();
            (pairs, work, centres)
        };
        for count in [1000, 2000] {
            let (pairs, work, centres) = of(count);
            println!("{count}: {pairs} pairs, {centres} centres, {work:?}");
            assert!(pairs < 2 * count && work.candidates < 6 * count as u64, "{pairs} pairs, {work:?}");
            assert!(work.postings < 100 * count as u64, "{work:?}");
        }
    }
}
