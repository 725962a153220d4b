//! The text of a page of HTML: what the HTML Standard calls its `innerText`, as far as that needs no style sheet.
//!
//! Pages are tag soup, and what a tag means depends on those before it. So the standard's own tokenizer reads them (the crate
//! `html5gum`): character references, comments, raw text, whatever the nesting. No tree is made of it, for only this is
//! asked of an element:
//!
//! | elements | what becomes of them |
//! |---|---|
//! | `script`, `style`, `title`, `textarea`, `iframe`, `noembed`, `template` | they and what is in them are left out |
//! | `script` of a type such as `text/x-handlebars-template`, where that is asked for | what is in it is markup like any other: a script puts it into the page |
//! | `p` | an empty line before and behind |
//! | others that begin a line, such as `div`, `li`, `h1` and `tr` | a line end before and behind |
//! | `br` | a line end; a second one makes an empty line |
//! | `td`, `th` | a TAB between two of a row |
//! | `pre`, `listing`, `xmp`, `plaintext` | white space stays as it is |
//! | all others, such as `b` and `a` | nothing: their text goes on |
//!
//! Everywhere else a run of white space is one blank, and none stands at the ends of a line. No script runs here and no frame is
//! loaded, so `noscript` and `noframes` are text: some forums have nothing else for those who read them so.

use crate::tokens::{self, State, Token, TokenReader};
use std::borrow::Cow;

/// What is asked of the text of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What stands in scripts that are templates is text, too.
    pub templates: bool,
    /// An empty line stands before and behind every block, and not those of `p` alone.
    pub blocks_apart: bool,
}

/// The text of a page. Where templates are left out, gives besides whether they are more than the text.
pub fn visible(page: &str, wanted: Wanted) -> (String, bool) {
    let mut read = Page::of(wanted);
    tokens::read(page.as_bytes(), &mut read);
    let in_templates = read.is_in_templates();
    (characters(read.text), in_templates)
}

/// The text as characters. It is parts of the page, and what character references stand for, so that no byte is of no character.
pub fn characters(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A page that is being read.
#[derive(Default)]
pub struct Page {
    /// The text so far.
    pub text: Vec<u8>,
    pub wanted: Wanted,
    /// Bytes of templates that are left out.
    in_templates: usize,
    /// The block that began last: where the gap before it begins, and where its text.
    pub began: Option<(usize, usize)>,
    /// What stands between the text and what comes next.
    gap: Gap,
    /// Elements around in which white space counts.
    verbatim: usize,
    /// The element that is left out, with all that is in it, and how many of its kind are open.
    left_out: Option<(Element, usize)>,
    /// The start tag that is being read, and whether it is that of a template.
    tag: Option<Element>,
    is_type: bool,
    is_template: bool,
    /// How what follows the tag is read, if not as before.
    state: Option<State>,
}

/// What stands between two texts: the most that was asked for.
#[derive(Default)]
struct Gap {
    lines: usize,
    tab: bool,
    blank: bool,
    /// Whether a block ends here: an element that is one, a cell, or an empty line.
    block: bool,
}

/// What is asked of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    /// Its content is left out: how that is read.
    LeftOut(Raw),
    Script,
    Template,
    /// So many line ends before and behind.
    Block(usize),
    LineEnd,
    Cell,
    /// A block in which white space counts.
    Verbatim(Option<Raw>),
}

/// How content that has no elements is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    Text,
    References,
    ToTheEnd,
}

impl Raw {
    fn state(self) -> State {
        match self {
            Raw::Text => State::RawText,
            Raw::References => State::RcData,
            Raw::ToTheEnd => State::PlainText,
        }
    }
}

impl Element {
    fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"style" | b"iframe" | b"noembed" => Element::LeftOut(Raw::Text),
            b"title" | b"textarea" => Element::LeftOut(Raw::References),
            b"script" => Element::Script,
            b"template" => Element::Template,
            b"p" => Element::Block(2),
            b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"caption" | b"center" | b"dd"
            | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset" | b"figcaption"
            | b"figure" | b"footer" | b"form" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"header"
            | b"hgroup" | b"hr" | b"html" | b"legend" | b"li" | b"main" | b"menu" | b"nav" | b"noframes"
            | b"ol" | b"optgroup" | b"option" | b"search" | b"section" | b"summary" | b"table" | b"tbody"
            | b"tfoot" | b"thead" | b"tr" | b"ul" => Element::Block(1),
            b"br" => Element::LineEnd,
            b"td" | b"th" => Element::Cell,
            b"pre" | b"listing" => Element::Verbatim(None),
            b"xmp" => Element::Verbatim(Some(Raw::Text)),
            b"plaintext" => Element::Verbatim(Some(Raw::ToTheEnd)),
            _ => return None,
        })
    }
}

/// Whether a script of this type is a template, whose markup another script puts into the page.
fn is_template(script: &[u8]) -> bool {
    let script = script.to_ascii_lowercase();
    script == b"text/html"
        || ["template", "handlebars", "mustache", "tmpl"]
            .iter()
            .any(|word| memchr::memmem::find(&script, word.as_bytes()).is_some())
}

/// Text without the places where a browser may break a word or a line, and those where it may not: soft hyphens, zero-width spaces, word
/// joiners and byte order marks. They say how a page is set and not what it says.
fn without_hints(value: &[u8]) -> Cow<'_, [u8]> {
    const HINTS: [&[u8]; 4] = [b"\xc2\xad", b"\xe2\x80\x8b", b"\xe2\x81\xa0", b"\xef\xbb\xbf"];
    if value.is_ascii() {
        return Cow::Borrowed(value);
    }
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [byte, more @ ..] = rest {
        // A character of UTF-8 begins in no other.
        match HINTS.iter().find(|hint| rest.starts_with(hint)) {
            Some(hint) => rest = &rest[hint.len()..],
            None => {
                out.push(*byte);
                rest = more;
            }
        }
    }
    Cow::Owned(out)
}

impl TokenReader for Page {
    fn read(&mut self, token: Token<'_>) {
        match token {
            Token::OpenStartTag { name } => {
                self.tag = Element::named(name);
                (self.is_type, self.is_template) = (false, false);
            }
            Token::AttributeName { name } => self.is_type = name == b"type",
            Token::AttributeValue { value } => self.is_template |= self.is_type && is_template(value),
            Token::CloseStartTag { .. } => {
                if let Some(element) = self.tag.take() {
                    self.begins(element);
                }
            }
            Token::EndTag { name } => {
                if let Some(element) = Element::named(name) {
                    self.ends(element);
                }
            }
            Token::String { value } => match self.left_out {
                None => self.write(&without_hints(value)),
                Some((Element::Script, _)) if self.is_template => self.in_templates += value.len(),
                Some(_) => {}
            },
            Token::Comment { .. } | Token::Doctype { .. } | Token::Error(_) => {}
        }
    }

    fn state(&mut self) -> Option<State> {
        self.state.take()
    }
}

impl Page {
    /// A page of which this is asked.
    pub fn of(wanted: Wanted) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Whether more of the page stands in templates that are left out than its text has.
    pub fn is_in_templates(&self) -> bool {
        self.in_templates > self.text.len()
    }

    /// Whether the element that is being read is left out.
    pub fn leaves_out(&self) -> bool {
        self.left_out.is_some()
    }

    /// Whether what is in the script whose tag was read last is markup like any other.
    fn is_markup(&self) -> bool {
        self.is_template && self.wanted.templates
    }

    fn begins(&mut self, element: Element) {
        self.state = match element {
            Element::LeftOut(raw) | Element::Verbatim(Some(raw)) => Some(raw.state()),
            Element::Script if !self.is_markup() => Some(State::ScriptData),
            _ => None,
        };
        if let Some((around, open)) = &mut self.left_out {
            // Only templates nest: in the others there are no elements.
            *open += usize::from(*around == element);
            return;
        }
        match element {
            Element::LeftOut(_) | Element::Template => self.left_out = Some((element, 1)),
            Element::Script if self.is_markup() => self.ends_line(1),
            Element::Script => self.left_out = Some((element, 1)),
            Element::Block(lines) => self.ends_line(lines),
            Element::LineEnd => {
                self.gap.lines = (self.gap.lines + 1).min(2);
                self.gap.block |= self.gap.lines == 2;
            }
            Element::Cell => (self.gap.tab, self.gap.block) = (true, true),
            Element::Verbatim(_) => {
                self.ends_line(1);
                self.verbatim += 1;
            }
        }
    }

    fn ends(&mut self, element: Element) {
        if let Some((around, open)) = &mut self.left_out {
            *open -= usize::from(*around == element);
            if *open == 0 {
                self.left_out = None;
            }
            return;
        }
        match element {
            Element::Script => self.ends_line(1),
            Element::Block(lines) => self.ends_line(lines),
            // `</br>` is `<br>`, by the standard.
            Element::LineEnd => self.begins(element),
            Element::Verbatim(_) => {
                self.ends_line(1);
                self.verbatim = self.verbatim.saturating_sub(1);
            }
            Element::LeftOut(_) | Element::Template | Element::Cell => {}
        }
    }

    fn ends_line(&mut self, lines: usize) {
        let lines = if self.wanted.blocks_apart { 2 } else { lines };
        self.gap.lines = self.gap.lines.max(lines);
        self.gap.block = true;
    }

    fn write(&mut self, value: &[u8]) {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r');
        if self.verbatim > 0 {
            for (number, line) in value.split(|byte| *byte == b'\n').enumerate() {
                self.gap.lines += usize::from(number > 0);
                if !line.is_empty() {
                    self.word(line);
                }
            }
            return;
        }
        let mut rest = value;
        while !rest.is_empty() {
            let space = rest.iter().take_while(|byte| is_space(byte)).count();
            self.gap.blank |= space > 0;
            let length = rest[space..].iter().take_while(|byte| !is_space(byte)).count();
            if length > 0 {
                self.word(&rest[space..space + length]);
            }
            rest = &rest[space + length..];
        }
    }

    /// Writes what is not white space, behind the gap.
    fn word(&mut self, word: &[u8]) {
        let gap = std::mem::take(&mut self.gap);
        let end = self.text.len();
        if end > 0 {
            match gap {
                Gap { lines: 1.., .. } => self.text.extend(std::iter::repeat_n(b'\n', gap.lines)),
                Gap { tab: true, .. } => self.text.push(b'\t'),
                Gap { blank: true, .. } => self.text.push(b' '),
                Gap { .. } => {}
            }
        }
        if gap.block || end == 0 {
            self.began = Some((end, self.text.len()));
        }
        self.text.extend_from_slice(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Wanted = Wanted { templates: false, blocks_apart: false };
    const TEMPLATES: Wanted = Wanted { templates: true, blocks_apart: false };

    #[test]
    fn blocks_are_lines_and_what_is_not_shown_is_left_out() {
        for (page, expected) in [
            ("", ""),
            (" a\n <b>b</b>c &amp; &eacute;&#x4e2d;&nbsp;d&lt;", "a bc & é中\u{a0}d<"),
            (
                "<!DOCTYPE html><html><head><title>T &amp; t</title><style>p{}</style><meta charset=utf-8></head><body>x",
                "x",
            ),
            ("<script>if (a<b) document.write('<p>no</p>')</script>a<script src=x></script>b", "ab"),
            ("a<script><!-- <script>x</script> --></script>b<textarea><p>c</textarea>", "ab"),
            ("<p>a<p>b</p>c<div>d<div>e</div></div><h1>f</h1>g", "a\n\nb\n\nc\nd\ne\nf\ng"),
            ("<ul><li>a<li>b</ul>c<br>d<br><br><br>e<br></p>f</br>g", "a\nb\nc\nd\n\ne\n\nf\ng"),
            ("<table><tr><td>a</td> <td>b<tr><th>c<td></td><td>d</table>", "a\tb\nc\td"),
            ("x<pre>\n  a\n\n b  c\n</pre> y  z", "x\n\n  a\n\n b  c\ny z"),
            ("<xmp><b> a</xmp><noframes><p>b</noframes><plaintext></p>", "<b> a\n\nb\n</p>"),
            ("a<template>b<template>c</template>d<p></template>e<noscript><p>f</noscript>", "ae\n\nf"),
            ("a<!-- b --><![CDATA[c]]><?d?></e >f<", "af<"),
            ("<P CLASS=\"a>b\">A</P ><SCRIPT>x</SCRIPT>B", "A\n\nB"),
            ("<style/>a</style><title>never ends", ""),
            (
                "neigh&shy;bours &#xAD; chan&#173;g\u{ad}es\u{200b} <p>\u{feff}a\u{2060}b&ZeroWidthSpace;</p><pre>x&shy;\ny</pre>",
                "neighbours changes\n\nab\n\nx\ny",
            ),
        ] {
            assert_eq!(visible(page, PLAIN), (expected.to_owned(), false), "{page}");
        }
    }

    #[test]
    fn blocks_are_paragraphs_where_that_is_asked_for() {
        let page = "<div>a<br>b</div><ul><li>c<li>d</ul><h1>e</h1>f<p>g</p><pre>h\ni</pre><table><tr><td>j<td>k<tr><td>l</table>";
        let apart = Wanted { blocks_apart: true, ..PLAIN };
        assert_eq!(visible(page, apart).0, "a\nb\n\nc\n\nd\n\ne\n\nf\n\ng\n\nh\ni\n\nj\tk\n\nl");
    }

    /// What a script puts into the page is text where that is asked for; what it is to do is none.
    #[test]
    fn scripts_that_are_templates_are_markup() {
        let page = "<script id=c type=\"text/x-handlebars-template\"><h1>Kafka</h1><p>A &lt; b</p></script><script \
                    type=text/javascript>x</script><script type='TEXT/HTML'>y</script><script data-type=template>z</script>";
        assert_eq!(visible(page, TEMPLATES), ("Kafka\n\nA < b\n\ny".to_owned(), false));
        assert_eq!(visible(page, PLAIN), (String::new(), true));
        // As many bytes as the text has: the page is no template.
        let page = "<script type=text/template>12345</script><p>12345";
        assert_eq!(visible(page, PLAIN), ("12345".to_owned(), false));
        assert_eq!(visible(&page.replace("</s", "6</s"), PLAIN), ("12345".to_owned(), true));
    }

    proptest! {
        /// Whatever the tags, the text is that of the words between, in order, and white space is as it is said to be.
        #[test]
        fn words_stay_in_order(parts in proptest::collection::vec(
            prop::sample::select(vec!["a", "é ", " 中", "\n", "<p>", "</p>", "<b>", "<br>", "<td>", "<li>", "</div>", "<x y='>'>", "<!-- z -->",
                "<style>z</style>", "<script>z</script>", "<title>z</title>", "&amp;"]), 0..40)
        ) {
            let (found, _) = visible(&parts.concat(), TEMPLATES);
            let words: String = parts.iter().filter(|part| !part.starts_with('<')).map(|part| part.replace("&amp;", "&")).collect();
            let without = |text: &str| text.split_ascii_whitespace().collect::<String>();
            prop_assert_eq!(without(&found), without(&words));
            prop_assert!(!found.contains("  ") && !found.contains(" \n") && !found.contains("\n ") && !found.contains("\n\n\n"));
            prop_assert_eq!(found.trim_ascii(), &found);
        }

        #[test]
        fn any_text_is_read(page in "\\PC{0,80}|(<|>|/|!|-|&|;|#|script|template|p|title|[a-z \n'\"=]){0,60}") {
            visible(&page, TEMPLATES);
        }
    }
}
