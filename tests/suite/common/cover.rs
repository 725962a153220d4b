//! All pairs of options' values in few runs.
//!
//! A product of options grows with every option; most defects show with two values that meet. So a matrix runs as many
//! combinations as it takes for every two values, of two options, to meet at least once (a covering array of strength
//! two), chosen greedily: the next combination is the one in which most values meet that have not met yet.

use std::collections::{BTreeMap, BTreeSet};

/// A combination: of each option the place of its value.
pub type Choice<const N: usize> = [usize; N];

/// Two options, each with the place of its value.
pub type Meeting = ((usize, usize), (usize, usize));

/// The values that meet in a combination.
pub fn meetings(choice: &[usize]) -> impl Iterator<Item = Meeting> + '_ {
    let (values, count) = (move |at: usize| (at, choice[at]), choice.len());
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| (values(first), values(second))))
}

/// The product of options with so many values each, in order.
pub fn product<const N: usize>(values: [usize; N]) -> Vec<Choice<N>> {
    let all = values.iter().product();
    let nth = |number: usize| {
        let mut rest = number;
        let mut choice = [0; N];
        for at in (0..N).rev() {
            choice[at] = rest % values[at];
            rest /= values[at];
        }
        choice
    };
    (0..all).map(nth).collect()
}

/// Combinations among `all` in which every two values meet that meet in any. Of equally good ones the first is
/// taken.
pub fn covering<C: AsRef<[usize]> + Clone>(all: &[C]) -> Vec<C> {
    let numbers: BTreeMap<Meeting, usize> = {
        let meetings: BTreeSet<Meeting> = all.iter().flat_map(|choice| meetings(choice.as_ref())).collect();
        meetings.into_iter().zip(0..).collect()
    };
    let of_choice = |choice: &C| meetings(choice.as_ref()).map(|meeting| numbers[&meeting]).collect();
    let met_by: Vec<Vec<usize>> = all.iter().map(of_choice).collect();
    let mut open = vec![true; numbers.len()];
    let mut taken = Vec::new();
    while open.contains(&true) {
        let new = |at: &usize| met_by[*at].iter().filter(|number| open[**number]).count();
        // `max_by_key` takes the last of equals.
        let best = (0..all.len()).rev().max_by_key(new).expect("there is a combination");
        met_by[best].iter().for_each(|number| open[*number] = false);
        taken.push(all[best].clone());
    }
    taken
}
