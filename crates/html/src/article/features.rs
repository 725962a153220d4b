//! What is asked of a block before it is decided whether it is content.
//!
//! All are integers that count bytes, marks and blocks, or are thousandths. A Han character has three bytes and an English word with its
//! blank about six, so bytes say about the same of both scripts, where words and characters would not.

use super::measure::{Measures, SIZES};
use super::names;
use super::outline::Outline;
use super::tag::{Tag, kind, said};

/// Defines the features and their names.
macro_rules! features {
    ($($name:ident $about:literal;)*) => {
        /// What is asked of a block.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $(#[doc = $about] $name,)*
        }

        /// The names of all.
        pub const NAMES: [&str; [$(Feature::$name),*].len()] = [$(stringify!($name)),*];
    };
}

features! {
    Bytes "Of its text";
    Links "The share of it that is links";
    Marks "Commas and ends of sentences";
    Capitals "The share of capitals";
    Digits "The share of digits";
    End "Whether it ends as a sentence does";
    Element "The element that it stands in";
    Parent "The element around that";
    Level "Of a heading";
    Depth "How many elements are around it";
    InArticle "Whether an element `article` is around it";
    InMain "`main`, or an element of this role";
    InAside "`aside`";
    InNav "`nav`, or an element of a role such as navigation and banner";
    InHeader "`header`";
    InFooter "`footer`";
    InForm "`form`";
    InTable "`table`";
    InList "`ul`, `ol`";
    InSection "`section`";
    InFigure "`figure`";
    InButton "`button`, `select`, `label`";
    InDialog "`dialog`, or an element of this role";
    InParagraph "`p`";
    InHeading "`h1` to `h6`";
    InHidden "An element that is not shown";
    InAriaHidden "An element that is not read aloud";
    InBody "The `articleBody` of schema.org";
    Comment "Names such as comment: 2 of one of the three elements around it, 1 of another one";
    Menu "Names such as menu";
    Sidebar "Names such as sidebar";
    Footer "Names such as footer";
    Header "Names such as header";
    Related "Names such as related";
    Share "Names such as share";
    Advert "Names such as ad";
    Consent "Names such as cookie";
    Byline "Names such as author";
    Subscribe "Names such as newsletter";
    Image "Names such as caption";
    Content "Names such as content";
    Main "Names such as main";
    Product "Names such as product";
    Forum "Names such as thread";
    Title "Names such as title";
    Lead "Names such as summary";
    Faq "Names such as accordion";
    Spec "Names such as details";
    User "Names such as profile";
    Button "Names such as button";
    Card "Names such as card";
    Post "Names such as post";
    Bytes0 "Of the nearest element with 150 bytes or more";
    Bytes1 "Of that with 600";
    Bytes2 "Of that with 2,500";
    Bytes3 "Of that with 8,000";
    Links0 "The share of links in it";
    Links1 "The share of links in it";
    Links2 "The share of links in it";
    Links3 "The share of links in it";
    Block0 "Bytes of its blocks in the mean";
    Block1 "Bytes of its blocks in the mean";
    Block2 "Bytes of its blocks in the mean";
    Block3 "Bytes of its blocks in the mean";
    Marks0 "Marks in it, of a thousand bytes";
    Marks1 "Marks in it, of a thousand bytes";
    Marks2 "Marks in it, of a thousand bytes";
    Marks3 "Marks in it, of a thousand bytes";
    Prose0 "The share of running text in it";
    Prose1 "The share of running text in it";
    Prose2 "The share of running text in it";
    Prose3 "The share of running text in it";
    Up0 "How many elements it is away";
    Up1 "How many elements it is away";
    Up2 "How many elements it is away";
    Up3 "How many elements it is away";
    Side0 "Whether it stands before, in or behind the element of the article";
    Side1 "Whether it stands before, in or behind the element of the article";
    Side2 "Whether it stands before, in or behind the element of the article";
    Side3 "Whether it stands before, in or behind the element of the article";
    Headings2 "Headings in that with 2,500 bytes";
    Position "Where the block begins, of the whole text";
    Before "Bytes before it";
    After "Bytes behind it";
    Number "Blocks before it";
    Left "Blocks behind it, and itself";
    Since "Blocks since the last one of running text";
    Until "Blocks to the next one of running text";
    Best "Whether the block stands before, in or behind the element of the article";
    BestShare "The share of the page's text that stands in it";
    BestLinks "The share of links in it";
    BestProse "The share of running text in it";
    FromHeading "How many blocks the first heading of the first level is away";
    Alike "Blocks in elements of the same names and classes";
    AlikeBytes "Their bytes";
    AlikeMean "Bytes of these in the mean";
    Same "Blocks with the same text";
    LastBytes "Of the block before";
    LastLinks "The share of links in it";
    LastElement "The element that it stands in";
    NextBytes "Of the block behind";
    NextLinks "The share of links in it";
    NextElement "The element that it stands in";
    OfArticle "Whether the page says that it is an article";
    OfProduct "A product";
    OfForum "A discussion";
    OfList "A list";
}

/// The features of a block.
pub type Row = [i32; NAMES.len()];

/// Bits of the elements around a block.
const AROUND: [(Feature, u64); 18] = [
    (Feature::InArticle, Tag::Article.bit()),
    (Feature::InMain, Tag::Main.bit() | said::MAIN),
    (Feature::InAside, Tag::Aside.bit()),
    (Feature::InNav, Tag::Nav.bit() | said::AROUND),
    (Feature::InHeader, Tag::Header.bit()),
    (Feature::InFooter, Tag::Footer.bit()),
    (Feature::InForm, Tag::Form.bit()),
    (Feature::InTable, Tag::Table.bit()),
    (Feature::InList, Tag::List.bit()),
    (Feature::InSection, Tag::Section.bit()),
    (Feature::InFigure, Tag::Figure.bit()),
    (Feature::InButton, Tag::Button.bit() | Tag::Select.bit() | Tag::Label.bit()),
    (Feature::InDialog, Tag::Dialog.bit() | said::DIALOG),
    (Feature::InParagraph, Tag::Paragraph.bit()),
    (Feature::InHeading, Tag::Heading.bit()),
    (Feature::InHidden, said::HIDDEN),
    (Feature::InAriaHidden, said::ARIA_HIDDEN),
    (Feature::InBody, said::BODY),
];

/// Groups of names.
const NAMED: [(Feature, u32); 24] = [
    (Feature::Comment, names::COMMENT),
    (Feature::Menu, names::MENU),
    (Feature::Sidebar, names::SIDEBAR),
    (Feature::Footer, names::FOOTER),
    (Feature::Header, names::HEADER),
    (Feature::Related, names::RELATED),
    (Feature::Share, names::SHARE),
    (Feature::Advert, names::AD),
    (Feature::Consent, names::CONSENT),
    (Feature::Byline, names::BYLINE),
    (Feature::Subscribe, names::SUBSCRIBE),
    (Feature::Image, names::IMAGE),
    (Feature::Content, names::CONTENT),
    (Feature::Main, names::MAIN),
    (Feature::Product, names::PRODUCT),
    (Feature::Forum, names::FORUM),
    (Feature::Title, names::TITLE),
    (Feature::Lead, names::LEAD),
    (Feature::Faq, names::FAQ),
    (Feature::Spec, names::SPEC),
    (Feature::User, names::USER),
    (Feature::Button, names::BUTTON),
    (Feature::Card, names::CARD),
    (Feature::Post, names::POST),
];

/// Of the elements of each size: bytes, links, blocks, marks, prose, distance, side.
const SIZED: [[Feature; 7]; SIZES.len()] = {
    use Feature::*;
    [
        [Bytes0, Links0, Block0, Marks0, Prose0, Up0, Side0],
        [Bytes1, Links1, Block1, Marks1, Prose1, Up1, Side1],
        [Bytes2, Links2, Block2, Marks2, Prose2, Up2, Side2],
        [Bytes3, Links3, Block3, Marks3, Prose3, Up3, Side3],
    ]
};

/// Bits of what the page says of its kind.
const KINDS: [(Feature, u32); 4] = [
    (Feature::OfArticle, kind::ARTICLE),
    (Feature::OfProduct, kind::PRODUCT),
    (Feature::OfForum, kind::FORUM),
    (Feature::OfList, kind::LIST),
];

/// Thousandths.
fn share(part: usize, whole: usize) -> i32 {
    capped(part * 1000 / whole.max(1))
}

/// A number that is no larger than any bound that is asked for.
fn capped(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// The features of a block.
pub fn of(outline: &Outline, measures: &Measures, at: usize) -> Row {
    let mut row = [0; NAMES.len()];
    let mut put = |feature: Feature, value: i32| row[feature as usize] = value;
    let (block, text) = (&outline.blocks[at], &measures.texts[at]);
    let element = &outline.elements[block.element as usize];
    put(Feature::Bytes, capped(text.bytes));
    put(Feature::Links, share(text.links, text.bytes));
    put(Feature::Marks, capped(text.marks));
    put(Feature::Capitals, share(text.capitals, text.bytes));
    put(Feature::Digits, share(text.digits, text.bytes));
    put(Feature::End, text.end);
    put(Feature::Element, element.tag as i32);
    put(Feature::Parent, outline.elements[element.parent as usize].tag as i32);
    put(Feature::Level, i32::from(element.level));
    put(Feature::Depth, i32::from(element.depth));
    for (feature, bits) in AROUND {
        put(feature, i32::from(element.around & bits != 0));
    }
    for (feature, group) in NAMED {
        put(feature, i32::from(element.near & group != 0) + i32::from(element.all & group != 0));
    }
    for (near, [bytes, links, blocks, marks, prose, up, side]) in measures.near.iter().zip(SIZED) {
        let near = near[block.element as usize] as usize;
        let sums = &measures.sums[near];
        put(bytes, capped(sums.bytes));
        put(links, share(sums.links, sums.bytes));
        put(blocks, capped(sums.bytes / sums.blocks.max(1)));
        put(marks, share(sums.marks, sums.bytes));
        put(prose, share(sums.prose, sums.bytes));
        put(up, i32::from(element.depth) - i32::from(outline.elements[near].depth));
        put(side, measures.side(near, measures.best) as i32);
    }
    let section = measures.near[2][block.element as usize] as usize;
    put(Feature::Headings2, capped(measures.sums[section].headings));
    let whole = outline.page.text.len();
    put(Feature::Position, share(block.start, whole));
    put(Feature::Before, capped(block.start));
    put(Feature::After, capped(whole - block.end));
    put(Feature::Number, capped(at));
    put(Feature::Left, capped(measures.texts.len() - at));
    put(Feature::Since, measures.since[at]);
    put(Feature::Until, measures.until[at]);
    let best = &measures.sums[measures.best];
    put(Feature::Best, measures.side(block.element as usize, measures.best) as i32);
    put(Feature::BestShare, share(best.bytes, measures.sums[0].bytes));
    put(Feature::BestLinks, share(best.links, best.bytes));
    put(Feature::BestProse, share(best.prose, best.bytes));
    let away = |heading| capped(at).saturating_sub(capped(heading)).clamp(-1000, 1000);
    put(Feature::FromHeading, measures.heading.map_or(-1000, away));
    let alike = &measures.alike[at];
    put(Feature::Alike, capped(alike.blocks));
    put(Feature::AlikeBytes, capped(alike.bytes));
    put(Feature::AlikeMean, capped(alike.bytes / alike.blocks.max(1)));
    put(Feature::Same, capped(alike.same));
    let last = [Feature::LastBytes, Feature::LastLinks, Feature::LastElement];
    let next = [Feature::NextBytes, Feature::NextLinks, Feature::NextElement];
    for (other, [bytes, links, tag]) in [(at.checked_sub(1), last), (Some(at + 1), next)] {
        let found = other.and_then(|other| Some((measures.texts.get(other)?, outline.blocks.get(other)?)));
        let none = (-1, -1, -1);
        let values = found.map_or(none, |(text, block)| {
            let tag = outline.elements[block.element as usize].tag;
            (capped(text.bytes), share(text.links, text.bytes), tag as i32)
        });
        put(bytes, values.0);
        put(links, values.1);
        put(tag, values.2);
    }
    for (feature, bit) in KINDS {
        put(feature, i32::from(outline.kinds & bit != 0));
    }
    row
}
