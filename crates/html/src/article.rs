//! The main content of a page: its article, or what a page of another kind is there for.
//!
//! A page is read once, into the text that [`visible`](crate::visible) gives, its blocks and the elements around them ([`outline`]). Of each
//! block a hundred integers are known ([`features`]): what its text is like, what is around it, how much running text and how many
//! links the elements of several sizes around it have, what the blocks beside it are like. A forest of small trees makes of them how
//! likely it is content ([`forest`]).
//!
//! Which blocks stay is decided for the page as a whole. Let the most likely ones be kept, so many that the F1 that can be expected of
//! them is the highest: twice the content that is kept, over what is kept and all content, each in bytes. A page of an article, whose
//! blocks are told apart with certainty, loses what is around it; one whose blocks are all in doubt keeps most of them.
//!
//! A page with more than half a million blocks is taken as it is, so that memory is bounded.
//!
//! What a page itself says is none of its content does not take part: `nav`, `footer`, dialogs, buttons and what is not shown, where that
//! is less than half of the page, for scripts show pages that hide all of it.

mod features;
mod forest;
mod measure;
mod names;
mod outline;
mod start_tag;
mod tag;

use crate::text::{Wanted, characters};
use measure::Measures;
use outline::{Block, Outline};
use tag::{Tag, said};

pub use features::NAMES;

/// The main content of a page: some of the blocks of its visible text, in their order. Gives besides whether more of the page stands in
/// templates that are left out than its visible text has.
pub fn article(page: &str, wanted: Wanted) -> (String, bool) {
    let outline = Outline::of(page, wanted);
    let in_templates = outline.page.is_in_templates();
    if outline.is_too_large() {
        return (characters(outline.page.text), in_templates);
    }
    let kept = kept(&outline);
    (characters(joined(&outline.page.text, &outline.blocks, &kept)), in_templates)
}

/// What is never content, but for what is not shown.
const NEVER: u64 = Tag::Nav.bit()
    | said::AROUND
    | Tag::Footer.bit()
    | Tag::Dialog.bit()
    | said::DIALOG
    | Tag::Button.bit()
    | Tag::Select.bit()
    | Tag::Label.bit();

/// Which blocks may be content; all where there would be none.
fn candidates(outline: &Outline) -> Vec<usize> {
    let around = |block: &Block| outline.elements[block.element as usize].around;
    let is_hidden = |block: &Block| around(block) & said::HIDDEN != 0;
    let bytes = |block: &Block| block.end - block.start;
    let hidden: usize = outline.blocks.iter().filter(|block| is_hidden(block)).map(bytes).sum();
    let never = if hidden * 2 < outline.page.text.len() { NEVER | said::HIDDEN } else { NEVER };
    let may_be = |at: &usize| around(&outline.blocks[*at]) & never == 0;
    let found: Vec<usize> = (0..outline.blocks.len()).filter(may_be).collect();
    if found.is_empty() { (0..outline.blocks.len()).collect() } else { found }
}

/// Which blocks are the main content.
fn kept(outline: &Outline) -> Vec<bool> {
    let measures = Measures::of(outline);
    let mut blocks: Vec<(i32, usize)> = candidates(outline)
        .into_iter()
        .map(|at| (forest::sum(&features::of(outline, &measures, at)), at))
        .collect();
    blocks.sort_unstable_by_key(|(sum, at)| (-sum, *at));
    let bytes = |at: usize| measures.texts[at].bytes as u64;
    let content = |(sum, at): &(i32, usize)| bytes(*at) * forest::likelihood(*sum);
    let all: u64 = blocks.iter().map(content).sum();
    // Half of the F1, as a fraction, and how many blocks give it.
    let (mut best, mut count) = ((0, 1), 0);
    let (mut found, mut size) = (0, 0);
    for (number, block) in (1..).zip(&blocks) {
        found += content(block);
        size += bytes(block.1) * forest::CERTAIN;
        let f1 = (u128::from(found), u128::from(size) + u128::from(all));
        if f1.0 * best.1 > best.0 * f1.1 {
            (best, count) = (f1, number);
        }
    }
    let mut kept = vec![false; outline.blocks.len()];
    blocks[..count].iter().for_each(|(_, at)| kept[*at] = true);
    kept
}

/// The blocks that are kept, each behind the widest gap since the last one.
fn joined(text: &[u8], blocks: &[Block], kept: &[bool]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut widest: &[u8] = b"";
    let width = |gap: &[u8]| gap.iter().map(|byte| usize::from(*byte == b'\n') + 1).sum::<usize>();
    for (block, is_kept) in blocks.iter().zip(kept) {
        let gap = &text[block.gap..block.start];
        if width(gap) > width(widest) {
            widest = gap;
        }
        if *is_kept {
            if !out.is_empty() {
                out.extend_from_slice(widest);
            }
            out.extend_from_slice(&text[block.start..block.end]);
            widest = b"";
        }
    }
    out
}

/// A block as [`learn`](crate::learn) gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its text.
    pub text: String,
    /// Its features, in the order of [`NAMES`].
    pub features: Vec<i32>,
}

/// The blocks of a page.
pub fn examples(page: &str) -> Vec<Example> {
    let outline = Outline::of(page, Wanted::default());
    let measures = Measures::of(&outline);
    let one = |at: usize| {
        let block = &outline.blocks[at];
        let text = outline.page.text[block.start..block.end].to_vec();
        Example { text: characters(text), features: features::of(&outline, &measures, at).to_vec() }
    };
    (0..outline.blocks.len()).map(one).collect()
}

#[cfg(test)]
mod tests;
