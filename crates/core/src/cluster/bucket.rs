//! The pairs that join the components of a bucket: of some documents each two of which may be a pair.
//!
//! Documents that are alike share a bucket by the thousand, and each two of them are a pair. For components most of these say nothing
//! new. A bucket is gone through component by component: one is held against each before it until one pair is found, and nothing is looked at
//! inside of a component. So many that are all alike cost one look each, and those that are in one component already none. What is
//! in no component with another is held against it, pair by pair.

/// A component, or what is known of one, within a bucket.
struct Part {
    members: Vec<u32>,
    /// Where the member is that was in a pair last: of a cluster whose members resemble one of them, that one is soon found.
    hub: usize,
}

/// Calls `is_pair` with members of different components of a bucket until it is known which of the components are connected by a pair, and
/// gives the pairs that connect them: a spanning forest.
///
/// `bucket` has each member with its component, in any order; `is_pair` gets members in either order.
pub fn connect<E>(
    bucket: &mut [(u32, u32)],
    mut is_pair: impl FnMut(u32, u32) -> Result<bool, E>,
) -> Result<Vec<(u32, u32)>, E> {
    // Most buckets have two members.
    if let [(component, x), (other, y)] = *bucket {
        let linked = component != other && is_pair(x, y)?;
        return Ok(if linked { vec![(x, y)] } else { Vec::new() });
    }
    bucket.sort_unstable();
    let (mut parts, mut links): (Vec<Part>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    for component in bucket.chunk_by(|x, y| x.0 == y.0) {
        let mut joined: Option<Part> = None;
        let mut at = 0;
        while at < parts.len() {
            let Some(link) = link(component, &mut parts[at], &mut is_pair)? else {
                at += 1;
                continue;
            };
            links.push(link);
            let part = parts.swap_remove(at);
            joined = Some(match joined {
                Some(joined) => larger(joined, part),
                None => part,
            });
        }
        let mut joined = joined.unwrap_or(Part { members: Vec::new(), hub: 0 });
        joined.members.extend(component.iter().map(|(_, member)| *member));
        parts.push(joined);
    }
    Ok(links)
}

/// The first pair of a member of a component and one of a part that is found, whose hub is that one from now on.
fn link<E>(
    component: &[(u32, u32)],
    part: &mut Part,
    is_pair: &mut impl FnMut(u32, u32) -> Result<bool, E>,
) -> Result<Option<(u32, u32)>, E> {
    let hub = part.hub;
    for (_, x) in component {
        // After the hub those that came last: they are nearest in size.
        let others = (0..part.members.len()).rev().filter(|at| *at != hub);
        for at in std::iter::once(hub).chain(others) {
            let y = part.members[at];
            if is_pair(*x, y)? {
                part.hub = at;
                return Ok(Some((*x, y)));
            }
        }
    }
    Ok(None)
}

/// Two parts as one, with the hub of the larger.
fn larger(x: Part, y: Part) -> Part {
    let (mut larger, smaller) = if x.members.len() < y.members.len() { (y, x) } else { (x, y) };
    larger.members.extend(smaller.members);
    larger
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::union_find::UnionFind;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn connected(
        bucket: &[(u32, u32)],
        mut is_pair: impl FnMut(u32, u32) -> bool,
    ) -> (Vec<(u32, u32)>, usize) {
        let (mut bucket, mut looks) = (bucket.to_vec(), 0);
        let look = |x, y| {
            looks += 1;
            Ok::<bool, Infallible>(is_pair(x, y))
        };
        let Ok(links) = connect(&mut bucket, look);
        (links, looks)
    }

    proptest! {
        /// The components are those of all pairs of the bucket, each link is a pair that joins two, and no two are looked at twice.
        #[test]
        fn links_have_the_components_of_all_pairs(
            before in prop::collection::vec((0u32..24, 0u32..24), 0..12),
            pairs in prop::collection::btree_set((0u32..24, 0u32..24), 0..60),
            members in prop::collection::btree_set(0u32..24, 2..24),
        ) {
            let mut forest = UnionFind::new(24);
            before.iter().for_each(|(x, y)| {
                forest.union(*x, *y);
            });
            let is_pair = |x: u32, y: u32| pairs.contains(&(x, y)) || pairs.contains(&(y, x));
            let bucket: Vec<(u32, u32)> = members.iter().rev().map(|member| (forest.root(*member), *member)).collect();
            let mut seen = std::collections::BTreeSet::new();
            let (links, _) = connected(&bucket, |x, y| {
                assert!(forest.root(x) != forest.root(y) && seen.insert((x.min(y), x.max(y))), "{x} and {y}");
                is_pair(x, y)
            });
            let mut expected = forest.clone();
            members.iter().for_each(|x| {
                members.iter().filter(|y| is_pair(*x, **y)).for_each(|y| {
                    expected.union(*x, *y);
                });
            });
            for (x, y) in links {
                prop_assert!(is_pair(x, y));
                prop_assert!(forest.union(x, y));
            }
            prop_assert_eq!(forest.into_labels(), expected.into_labels());
        }
    }

    /// Members that are all alike, or all like one of them, or in one component before, cost a look or two each; others a look for each two.
    #[test]
    fn alike_members_cost_a_look_each() {
        let alone = |count: u32| (0..count).map(|member| (member, member)).collect::<Vec<_>>();
        for count in [100, 200] {
            let few = count as usize - 1;
            assert_eq!(connected(&alone(count), |_, _| true).1, few);
            // Three are alone, and the fourth is a hub.
            assert!(connected(&alone(count), |x, y| x.min(y) == 3).1 <= 4 * few);
            let together: Vec<(u32, u32)> = (0..count).map(|member| (7, member)).collect();
            assert_eq!(connected(&together, |_, _| true), (Vec::new(), 0));
            assert_eq!(connected(&alone(count), |_, _| false).1, (count as usize) * few / 2);
        }
    }
}
