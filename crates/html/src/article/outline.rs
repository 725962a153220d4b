//! The elements of a page and the blocks of its text.
//!
//! No tree of the HTML Standard is made. Elements that are blocks are kept with their parents, end tags close the nearest element of
//! their name, and the few elements whose end tags people leave out (`p`, `li`, `td` and such) end where another one begins. Elements
//! within a line, such as `b`, are none. An element deeper than [`DEEPEST`] is left out, so that the work stays linear.

use super::start_tag::{Special, StartTag, number};
use super::tag::{Tag, kinds_of_data};
use crate::text::{Page, Wanted};
use crate::tokens::{self, State, Token, TokenReader};

/// No element is nested deeper, as in browsers.
const DEEPEST: u16 = 512;

/// So many elements are kept, and so many blocks: some 120 MB for the largest pages.
const MOST: usize = 1 << 19;

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// The element around it; that of the root is itself.
    pub parent: u32,
    pub tag: Tag,
    pub depth: u16,
    /// The level of a heading.
    pub level: u8,
    /// The name, where it is that of a custom element.
    name: u64,
    /// The class as a number, 0 where there is none.
    pub class: u64,
    /// Groups of its own names, of those of the two elements around it as well, and of all around it.
    pub own: u32,
    pub near: u32,
    pub all: u32,
    /// The bits of its tag and of what its attributes say, and those of all around it.
    pub around: u64,
}

/// A block of text.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub element: u32,
    /// Where the gap before it begins.
    pub gap: usize,
    pub start: usize,
    pub end: usize,
    /// Bytes of it that are links.
    pub links: usize,
}

/// A page that is being read.
pub struct Outline {
    pub page: Page,
    pub elements: Vec<Element>,
    pub blocks: Vec<Block>,
    pub kinds: u32,
    current: usize,
    /// How many elements of each tag are open.
    open: [u32; 64],
    /// The depth at which a link began.
    link: Option<u16>,
    /// The start tag that is being read.
    tag: StartTag,
    in_data: bool,
}

impl Outline {
    /// Reads a page.
    pub fn of(page: &str, wanted: Wanted) -> Self {
        let root = Element {
            parent: 0,
            tag: Tag::Root,
            depth: 0,
            level: 0,
            name: 0,
            class: 0,
            own: 0,
            near: 0,
            all: 0,
            around: 0,
        };
        let mut outline = Self {
            page: Page::of(wanted),
            elements: vec![root],
            blocks: Vec::new(),
            kinds: 0,
            current: 0,
            open: [0; 64],
            link: None,
            tag: StartTag::default(),
            in_data: false,
        };
        tokens::read(page.as_bytes(), &mut outline);
        outline
    }

    /// Whether there are more blocks than are kept.
    pub fn is_too_large(&self) -> bool {
        self.blocks.len() == MOST
    }

    fn opens(&mut self) {
        let read = &self.tag;
        let Some(tag) = read.tag else { return };
        let (level, name, class, own) = (read.level, read.name, read.class, read.groups);
        let says = read.says | tag.bit();
        // What people leave open ends where the next begins.
        let (ends, within): (u64, u64) = match tag {
            Tag::Item => (Tag::Item.bit(), Tag::List.bit()),
            Tag::Term | Tag::Definition => (Tag::Term.bit() | Tag::Definition.bit(), Tag::Terms.bit()),
            Tag::Cell => (Tag::Cell.bit(), Tag::Row.bit() | Tag::Table.bit()),
            Tag::Row => (Tag::Row.bit(), Tag::Table.bit()),
            _ => (0, 0),
        };
        if tag.ends_paragraph() {
            self.close(Tag::Paragraph.bit(), Tag::Cell.bit() | Tag::Table.bit() | Tag::Button.bit(), 0);
        }
        if ends != 0 {
            self.close(ends, within, 0);
        }
        let parent = &self.elements[self.current];
        if parent.depth >= DEEPEST || self.elements.len() >= MOST {
            return;
        }
        let around = self.elements[parent.parent as usize].own;
        let element = Element {
            parent: self.current as u32,
            tag,
            depth: parent.depth + 1,
            level,
            name,
            class,
            own,
            near: own | parent.own | around,
            all: own | parent.all,
            around: says | parent.around,
        };
        self.current = self.elements.len();
        self.elements.push(element);
        self.open[tag as usize] += 1;
    }

    /// Closes the nearest open element of these tags, and those within it, unless one of the barriers is nearer.
    fn close(&mut self, tags: u64, barriers: u64, name: u64) {
        let mut rest = tags;
        let mut is_open = false;
        while rest != 0 {
            is_open |= self.open[rest.trailing_zeros() as usize] > 0;
            rest &= rest - 1;
        }
        if !is_open {
            return;
        }
        let mut at = self.current;
        loop {
            let element = &self.elements[at];
            let bit = element.tag.bit();
            if at == 0 || (bit & barriers != 0 && bit & tags == 0) {
                return;
            }
            let up = element.parent as usize;
            if bit & tags != 0 && element.name == name {
                break self.leave(up);
            }
            at = up;
        }
    }

    /// Goes up to an element.
    fn leave(&mut self, to: usize) {
        while self.current != to {
            let element = &self.elements[self.current];
            self.open[element.tag as usize] -= 1;
            self.current = element.parent as usize;
        }
        if self.link.is_some_and(|depth| depth > self.elements[to].depth) {
            self.link = None;
        }
    }

    /// The text between these places was written.
    fn wrote(&mut self, before: usize, after: usize) {
        let mut from = before;
        let began = self.page.began.take().filter(|_| self.blocks.len() < MOST);
        if let Some((gap, start)) = began {
            self.blocks.push(Block { element: self.current as u32, gap, start, end: after, links: 0 });
            from = start;
        }
        if let Some(block) = self.blocks.last_mut() {
            block.end = after;
            if self.link.is_some() {
                block.links += after - from;
            }
        }
    }
}

impl TokenReader for Outline {
    fn read(&mut self, token: Token<'_>) {
        match &token {
            Token::OpenStartTag { name } => self.tag = StartTag::named(name),
            Token::AttributeName { name } => self.tag.attribute(name),
            Token::AttributeValue { value } => self.tag.value(value),
            Token::CloseStartTag { .. } if !self.page.leaves_out() => match self.tag.special {
                Special::Link => {
                    self.link = self.tag.has_address.then_some(self.elements[self.current].depth);
                }
                Special::Meta if self.tag.is_type => self.kinds |= self.tag.kinds,
                Special::Script => self.in_data = self.tag.is_data,
                Special::Meta | Special::None => self.opens(),
            },
            Token::EndTag { name } if !self.page.leaves_out() => {
                if *name == b"a" {
                    self.link = None;
                } else if let Some(tag) = Tag::named(name) {
                    let within_table = [Tag::Cell, Tag::Row, Tag::Table].contains(&tag);
                    let barriers = if within_table { Tag::Table.bit() } else { Tag::Cell.bit() };
                    let name = if tag == Tag::Custom { number(name) } else { 0 };
                    self.close(tag.bit(), barriers, name);
                }
            }
            Token::EndTag { name } if *name == b"script" => self.in_data = false,
            Token::String { value } if self.in_data => self.kinds |= kinds_of_data(value),
            _ => {}
        }
        let before = self.page.text.len();
        self.page.read(token);
        let after = self.page.text.len();
        if after > before {
            self.wrote(before, after);
        }
    }

    fn state(&mut self) -> Option<State> {
        self.page.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::article::names;
    use crate::article::tag::{kind, said};

    fn outline(page: &str) -> Outline {
        Outline::of(page, Wanted::default())
    }

    /// The elements around each block, the innermost first.
    fn paths(page: &str) -> Vec<String> {
        let outline = outline(page);
        let path = |block: &Block| {
            let (mut at, mut path) = (block.element as usize, Vec::new());
            while at > 0 {
                path.push(format!("{:?}", outline.elements[at].tag));
                at = outline.elements[at].parent as usize;
            }
            path.join(" ")
        };
        outline.blocks.iter().map(path).collect()
    }

    #[test]
    fn end_tags_may_be_left_out() {
        for (page, expected) in [
            ("<div><p>a<p>b<div>c</div>", &["Paragraph Div", "Paragraph Div", "Div Div"][..]),
            (
                "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e",
                &["Item List", "Item List", "Item List Item List", "Item List", ""],
            ),
            (
                "<table><tr><td>a<td>b<tr><th>c</table>d",
                &["Cell Row Table", "Cell Row Table", "Cell Row Table", ""],
            ),
            ("<dl><dt>a<dd>b<dt>c</dl>", &["Term Terms", "Definition Terms", "Term Terms"]),
            ("<p>a<b>b</p>c</b>", &["Paragraph", ""]),
            // An end tag closes what it can reach, and all in between.
            ("<div><section><p>a</div>b", &["Paragraph Section Div", ""]),
            ("</div></x>a", &[""]),
            ("<div><table><tr><td></div>a</table>b</div>c", &["Cell Row Table Div", "Div", ""]),
            ("<td>a<table><tr><td>b</table>c", &["Cell", "Cell Row Table Cell", "Cell"]),
            ("<x-a><x-b>a</x-a><p>b", &["Custom Custom", "Paragraph"]),
            ("<x-a>a</x-b><p>b", &["Custom", "Paragraph Custom"]),
            ("<template><div></template>a", &[""]),
            ("<p><button>a<p>b</button>c", &["Button Paragraph", "Paragraph Button Paragraph"]),
        ] {
            assert_eq!(paths(page), expected, "{page}");
        }
    }

    #[test]
    fn no_element_is_deeper_than_the_deepest() {
        let outline = outline(&"<div>a".repeat(2000));
        assert_eq!(outline.elements.len(), usize::from(DEEPEST) + 1);
        assert_eq!(outline.blocks.len(), 2000);
        assert_eq!(outline.elements.last().map(|element| element.depth), Some(DEEPEST));
    }

    #[test]
    fn elements_and_blocks_are_bounded() {
        let outline = outline(&"<p>ab".repeat(MOST + 10));
        assert_eq!((outline.elements.len(), outline.blocks.len()), (MOST, MOST));
        assert!(outline.is_too_large());
        assert!(outline.blocks.iter().all(|block| (block.element as usize) < MOST));
    }

    #[test]
    fn links_end_with_their_element() {
        let links = |page: &str| outline(page).blocks.iter().map(|block| block.links).collect::<Vec<_>>();
        assert_eq!(links("<p>ab <a href=x>cd ef</a> g"), [6]);
        assert_eq!(links("<p><a href=x>ab<p>cd</a>ef"), [2, 0]);
        assert_eq!(links("<div><a href=x>ab</div><p>cd"), [2, 0]);
        assert_eq!(links("<a href=x><div>ab</div></a>cd"), [2, 0]);
        assert_eq!(links("<a name=x>ab</a><p><a href=x>cd<a name=y>ef"), [0, 2]);
    }

    #[test]
    fn names_and_attributes_are_those_of_the_elements_around() {
        let page = "<nav class=a><div id=sidebar><p><b class=menu>a</b></nav><div class='ad'><i><u><section><ul><li><p itemprop=articleBody>b";
        let outline = outline(page);
        let [first, second] = [0, 1].map(|at| &outline.elements[outline.blocks[at].element as usize]);
        assert_eq!((first.own, first.near, first.all), (0, names::SIDEBAR, names::SIDEBAR));
        assert_ne!(first.around & Tag::Nav.bit(), 0);
        assert_eq!((second.near, second.all), (0, names::AD));
        assert_eq!(second.around & (said::BODY | Tag::Nav.bit()), said::BODY);
        assert_eq!(outline.elements[1].class, number(b"a"));
    }

    #[test]
    fn pages_say_their_kind() {
        for (page, kinds) in [
            ("<meta property=og:type content=article>", kind::ARTICLE),
            ("<meta content='product.item' property='og:type'>", kind::PRODUCT),
            ("<meta name=og:type content=article><meta property=og:title content=product>", 0),
            (
                "<script type='application/ld+json'>{\"@type\": [\"DiscussionForumPosting\"], \"x\": {\"@type\":\"ItemList\"}}</script>",
                kind::FORUM | kind::LIST,
            ),
            ("<script>{\"@type\":\"Product\"}</script><p>\"@type\":\"Product\"", 0),
        ] {
            assert_eq!(outline(page).kinds, kinds, "{page}");
        }
    }
}
