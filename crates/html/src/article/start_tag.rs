//! A start tag while its attributes are read.

use super::names;
use super::tag::{Tag, kinds, said};

/// A start tag.
#[derive(Default)]
pub struct StartTag {
    /// The element, where it is kept.
    pub tag: Option<Tag>,
    pub special: Special,
    /// The level of a heading.
    pub level: u8,
    /// The name of a custom element, and the class, as numbers.
    pub name: u64,
    pub class: u64,
    /// The groups of its names.
    pub groups: u32,
    /// What its attributes say.
    pub says: u64,
    /// Whether it is a link to somewhere.
    pub has_address: bool,
    /// Whether a script is JSON-LD.
    pub is_data: bool,
    /// Whether a `meta` element tells the kind of the page, and which kinds its content names.
    pub is_type: bool,
    pub kinds: u32,
    attribute: Attribute,
}

/// Elements that are no blocks, and of which something is asked.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Special {
    #[default]
    None,
    Link,
    Meta,
    Script,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Attribute {
    #[default]
    Other,
    AriaHidden,
    Class,
    Content,
    Id,
    MetaProperty,
    Property,
    Role,
    Style,
    Type,
}

/// So much of a value is read that names a kind of page.
const LONGEST_KIND: usize = 80;

/// A number for some bytes; two that differ have the same with no more than chance.
pub fn number(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, part: u64| (sum.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (parts, rest) = bytes.as_chunks::<8>();
    let sum = parts.iter().fold(bytes.len() as u64, |sum, part| mix(sum, u64::from_le_bytes(*part)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}

/// Whether a style says that an element is not shown.
fn hides(style: &[u8]) -> bool {
    style.split(|byte| *byte == b';').any(|rule| {
        let mut parts = rule.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(b"display"))
            && parts
                .next()
                .is_some_and(|value| value.get(..4).is_some_and(|value| value.eq_ignore_ascii_case(b"none")))
    })
}

impl StartTag {
    /// The one of this name.
    pub fn named(name: &[u8]) -> Self {
        let tag = Tag::named(name);
        let special = match name {
            b"a" => Special::Link,
            b"meta" => Special::Meta,
            b"script" => Special::Script,
            _ => Special::None,
        };
        Self {
            tag,
            special,
            level: if tag == Some(Tag::Heading) { name[1] - b'0' } else { 0 },
            name: if tag == Some(Tag::Custom) { number(name) } else { 0 },
            ..Self::default()
        }
    }

    /// The next attribute has this name.
    pub fn attribute(&mut self, name: &[u8]) {
        let is_meta = self.special == Special::Meta;
        self.attribute = match name {
            b"aria-hidden" => Attribute::AriaHidden,
            b"class" => Attribute::Class,
            b"content" if is_meta => Attribute::Content,
            b"id" => Attribute::Id,
            b"property" if is_meta => Attribute::MetaProperty,
            b"itemprop" => Attribute::Property,
            b"role" => Attribute::Role,
            b"style" => Attribute::Style,
            b"type" => Attribute::Type,
            _ => Attribute::Other,
        };
        match name {
            b"hidden" => self.says |= said::HIDDEN,
            b"href" => self.has_address = true,
            _ => {}
        }
    }

    /// The attribute has this value.
    pub fn value(&mut self, value: &[u8]) {
        if self.tag.is_none() && !matches!(self.special, Special::Meta | Special::Script) {
            return;
        }
        match self.attribute {
            Attribute::AriaHidden if value == b"true" => self.says |= said::ARIA_HIDDEN,
            Attribute::Class => {
                self.class = number(value);
                self.groups |= names::groups(value);
            }
            Attribute::Content => self.kinds = kinds(&value[..value.len().min(LONGEST_KIND)]),
            Attribute::Id => self.groups |= names::groups(value),
            Attribute::MetaProperty => self.is_type = value == b"og:type",
            Attribute::Property if value == b"articleBody" => self.says |= said::BODY,
            Attribute::Role => {
                self.says |= match value {
                    b"main" => said::MAIN,
                    b"navigation" | b"banner" | b"contentinfo" | b"search" | b"complementary" | b"menu"
                    | b"menubar" => said::AROUND,
                    b"dialog" | b"alertdialog" => said::DIALOG,
                    _ => 0,
                }
            }
            Attribute::Style if hides(value) => self.says |= said::HIDDEN,
            Attribute::Type => self.is_data = value == b"application/ld+json",
            _ => {}
        }
    }
}
