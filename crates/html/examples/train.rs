//! Learns the forest of `src/article/forest.in`: gradient boosting (friedman2001) of trees that ask one question a level.
//!
//! ```text
//! train TREES DEPTH RATE SEED < rows.tsv > forest.in
//! ```
//!
//! A row is a block: the number of its page, 1 where it is content and else 0, its weight, and its features, behind a first row of names.
//! Each tree sees four fifths of the pages and two fifths of the features, chosen by a generator of its own, so that the same rows give
//! the same forest.

use std::error::Error;
use std::fmt::Display;
use std::io::{BufRead, Write};

/// A value of a leaf is the logarithm of odds times this.
const SCALE: f64 = 1024.0;

/// Into so many parts a feature is cut, at most.
const PARTS: usize = 33;

/// What every sum of second derivatives is greater by, so that no leaf trusts few blocks.
const PENALTY: f64 = 0.1;

/// Xorshift (Marsaglia, 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Chooses so many of the first `of` numbers.
    fn choose(&mut self, count: usize, of: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..of).collect();
        let mut chosen = vec![false; of];
        for at in 0..count {
            order.swap(at, at + (self.next() % (of - at) as u64) as usize);
            chosen[order[at]] = true;
        }
        chosen
    }
}

/// The blocks to learn from.
struct Rows {
    names: Vec<String>,
    page: Vec<usize>,
    label: Vec<f64>,
    weight: Vec<f64>,
    /// By feature, then by block: in which of its parts the value lies.
    parts: Vec<Vec<u8>>,
    /// By feature: what the values of a part are greater than.
    borders: Vec<Vec<i32>>,
}

impl Rows {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut lines = std::io::stdin().lock().lines();
        let first = lines.next().ok_or("no row of names")??;
        let names: Vec<String> = first.split('\t').skip(3).map(str::to_owned).collect();
        let (mut page, mut label, mut weight) = (Vec::new(), Vec::new(), Vec::new());
        let mut values = vec![Vec::new(); names.len()];
        for line in lines {
            let line = line?;
            let mut cells = line.split('\t');
            let mut cell = || cells.next().ok_or("a row with too few cells");
            page.push(cell()?.parse()?);
            label.push(cell()?.parse()?);
            weight.push(cell()?.parse()?);
            for column in &mut values {
                column.push(cell()?.parse::<i32>()?);
            }
        }
        let borders: Vec<Vec<i32>> = values.iter().map(|column| borders(column)).collect();
        let part = |value: &i32, borders: &[i32]| borders.partition_point(|border| border < value) as u8;
        let parts = values.iter().zip(&borders);
        let parts = parts.map(|(column, borders)| column.iter().map(|value| part(value, borders)).collect());
        Ok(Self { parts: parts.collect(), names, page, label, weight, borders })
    }
}

/// Where a feature is cut: so that as many blocks lie in each part as can be.
fn borders(column: &[i32]) -> Vec<i32> {
    let mut sorted = column.to_vec();
    sorted.sort_unstable();
    let mut distinct = sorted.clone();
    distinct.dedup();
    let Some(last) = distinct.last().copied() else { return distinct };
    let mut found = if distinct.len() <= PARTS {
        distinct
    } else {
        (1..PARTS).map(|part| sorted[part * sorted.len() / PARTS]).collect()
    };
    found.dedup();
    found.retain(|border| *border < last);
    found
}

/// Sums of the first and second derivatives of the loss.
#[derive(Clone, Copy, Default)]
struct Sum(f64, f64);

impl Sum {
    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }

    fn gain(self) -> f64 {
        self.0 * self.0 / (self.1 + PENALTY)
    }
}

/// What is gained by each border of a feature, in all leaves together.
fn gains(sums: &[Sum], parts: usize) -> Vec<f64> {
    let mut gains = vec![0.0; parts - 1];
    for of_leaf in sums.chunks(parts) {
        let all = of_leaf.iter().fold(Sum::default(), |all, one| all.plus(*one));
        let mut left = Sum::default();
        for (gain, one) in gains.iter_mut().zip(of_leaf) {
            left = left.plus(*one);
            *gain += left.gain() + Sum(all.0 - left.0, all.1 - left.1).gain();
        }
    }
    gains
}

/// A tree: features with the numbers of their borders, and values.
type Tree = (Vec<(usize, usize)>, Vec<i32>);

/// The next tree, and adds what it says to the scores.
fn tree(rows: &Rows, scores: &mut [f64], random: &mut Random, depth: usize, rate: f64) -> Option<Tree> {
    let (pages, features) = (rows.page.iter().max()? + 1, rows.names.len());
    let in_tree = random.choose(pages * 4 / 5, pages);
    let asked = random.choose(features * 2 / 5, features);
    let derivatives = |at: usize| {
        let odds = 1.0 / (1.0 + (-scores[at]).exp());
        Sum(rows.weight[at] * (odds - rows.label[at]), rows.weight[at] * odds * (1.0 - odds))
    };
    let of_block: Vec<Sum> = (0..scores.len()).map(derivatives).collect();
    let seen: Vec<usize> = (0..scores.len()).filter(|at| in_tree[rows.page[*at]]).collect();
    let mut leaf = vec![0usize; scores.len()];
    let mut tests = Vec::new();
    for level in 0..depth {
        let mut best: Option<(f64, usize, usize)> = None;
        for feature in (0..features).filter(|at| asked[*at] && !rows.borders[*at].is_empty()) {
            let parts = rows.borders[feature].len() + 1;
            let mut sums = vec![Sum::default(); parts << level];
            for at in &seen {
                let sum = &mut sums[leaf[*at] * parts + usize::from(rows.parts[feature][*at])];
                *sum = sum.plus(of_block[*at]);
            }
            for (border, gain) in gains(&sums, parts).into_iter().enumerate() {
                if best.is_none_or(|best| gain > best.0) {
                    best = Some((gain, feature, border));
                }
            }
        }
        let (_, feature, border) = best?;
        tests.push((feature, border));
        for (leaf, part) in leaf.iter_mut().zip(&rows.parts[feature]) {
            *leaf = *leaf * 2 + usize::from(usize::from(*part) > border);
        }
    }
    let mut sums = vec![Sum::default(); 1 << depth];
    seen.iter().for_each(|at| sums[leaf[*at]] = sums[leaf[*at]].plus(of_block[*at]));
    let value = |sum: &Sum| (-rate * sum.0 / (sum.1 + PENALTY) * SCALE).round() as i32;
    let values: Vec<i32> = sums.iter().map(value).collect();
    for (score, leaf) in scores.iter_mut().zip(&leaf) {
        *score += f64::from(values[*leaf]) / SCALE;
    }
    Some((tests, values))
}

fn joined<T: Display>(values: impl Iterator<Item = T>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<f64> = std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [trees, depth, rate, seed] = given[..] else { return Err("train TREES DEPTH RATE SEED".into()) };
    let rows = Rows::read()?;
    let of = |wanted: f64| {
        let weights = rows.label.iter().zip(&rows.weight);
        weights.filter(|(label, _)| **label == wanted).map(|(_, weight)| weight).sum::<f64>()
    };
    let start = (of(1.0) / of(0.0)).ln();
    let mut scores = vec![start; rows.page.len()];
    let mut random = Random(seed as u64 * 2 + 0x9e37_79b9_7f4a_7c15);
    let mut out = std::io::stdout().lock();
    writeln!(out, "// Written by benches/html/learn.py.")?;
    writeln!(out, "Forest {{ start: {}, trees: &[", (start * SCALE).round() as i32)?;
    for _ in 0..trees as usize {
        let next = tree(&rows, &mut scores, &mut random, depth as usize, rate);
        let (tests, values) = next.ok_or("no feature differs")?;
        let test = |(feature, border): &(usize, usize)| {
            format!("({}, {})", rows.names[*feature], rows.borders[*feature][*border])
        };
        let (tests, values) = (joined(tests.iter().map(test)), joined(values.iter()));
        writeln!(out, "Tree {{ tests: [{tests}], leaves: [{values}] }},")?;
    }
    writeln!(out, "] }}")?;
    Ok(())
}
