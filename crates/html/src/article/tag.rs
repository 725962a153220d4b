//! What the name and the attributes of an element say, and what a page says of its kind.

/// The name of an element that is kept, those that hold content more often behind the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    Root,
    Head,
    Select,
    Button,
    Label,
    Form,
    Nav,
    Footer,
    Aside,
    Dialog,
    Noscript,
    Address,
    Header,
    Other,
    Custom,
    Body,
    Div,
    Section,
    Main,
    Article,
    List,
    Item,
    Table,
    Row,
    Caption,
    Cell,
    Terms,
    Term,
    Definition,
    Details,
    Summary,
    Figure,
    Figcaption,
    Heading,
    Preformatted,
    Quote,
    Paragraph,
}

impl Tag {
    pub fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"div" => Self::Div,
            b"p" => Self::Paragraph,
            b"li" => Self::Item,
            b"ul" | b"ol" | b"menu" | b"dir" => Self::List,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading,
            b"section" => Self::Section,
            b"article" => Self::Article,
            b"aside" => Self::Aside,
            b"nav" => Self::Nav,
            b"header" => Self::Header,
            b"footer" => Self::Footer,
            b"main" => Self::Main,
            b"body" => Self::Body,
            b"head" => Self::Head,
            b"td" | b"th" => Self::Cell,
            b"tr" => Self::Row,
            b"table" => Self::Table,
            b"figure" => Self::Figure,
            b"figcaption" => Self::Figcaption,
            b"blockquote" => Self::Quote,
            b"pre" | b"listing" | b"xmp" => Self::Preformatted,
            b"dl" => Self::Terms,
            b"dt" => Self::Term,
            b"dd" => Self::Definition,
            b"form" | b"fieldset" | b"search" => Self::Form,
            b"button" => Self::Button,
            b"select" => Self::Select,
            b"label" | b"legend" => Self::Label,
            b"details" => Self::Details,
            b"summary" => Self::Summary,
            b"dialog" => Self::Dialog,
            b"address" => Self::Address,
            b"noscript" | b"noframes" => Self::Noscript,
            b"caption" => Self::Caption,
            b"hgroup" | b"center" | b"tbody" | b"thead" | b"tfoot" | b"optgroup" | b"option" | b"svg" => {
                Self::Other
            }
            _ if name.contains(&b'-') => Self::Custom,
            _ => return None,
        })
    }

    /// The bit of this element.
    pub const fn bit(self) -> u64 {
        1 << self as u8
    }

    /// Whether a paragraph ends where this element begins.
    pub fn ends_paragraph(self) -> bool {
        !matches!(
            self,
            Self::Button | Self::Select | Self::Label | Self::Noscript | Self::Custom | Self::Other
        )
    }
}

/// What the attributes of an element say, as bits beside those of the tags.
pub mod said {
    /// Not shown: `hidden`, or a style that says so.
    pub const HIDDEN: u64 = 1 << 40;
    /// Not read aloud.
    pub const ARIA_HIDDEN: u64 = 1 << 41;
    /// The main content by its role.
    pub const MAIN: u64 = 1 << 42;
    /// Navigation, a banner, the end of the page or a search by its role.
    pub const AROUND: u64 = 1 << 43;
    /// The text of an article by schema.org.
    pub const BODY: u64 = 1 << 44;
    /// A dialog by its role.
    pub const DIALOG: u64 = 1 << 45;
}

/// What a page says of its kind, in `meta` elements and JSON-LD.
pub mod kind {
    pub const ARTICLE: u32 = 1;
    pub const PRODUCT: u32 = 2;
    pub const FORUM: u32 = 4;
    pub const LIST: u32 = 8;
}

/// The kinds that a value of `og:type` or `@type` names.
pub fn kinds(value: &[u8]) -> u32 {
    let value = value.to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&value, word).is_some();
    let mut found = 0;
    for (word, bit) in [
        (&b"article"[..], kind::ARTICLE),
        (b"blogposting", kind::ARTICLE),
        (b"report", kind::ARTICLE),
        (b"product", kind::PRODUCT),
        (b"offer", kind::PRODUCT),
        (b"discussionforum", kind::FORUM),
        (b"qapage", kind::FORUM),
        (b"socialmediaposting", kind::FORUM),
        (b"itemlist", kind::LIST),
        (b"collectionpage", kind::LIST),
    ] {
        if has(word) {
            found |= bit;
        }
    }
    found
}

/// The kinds that a script of JSON-LD names.
pub fn kinds_of_data(data: &[u8]) -> u32 {
    memchr::memmem::find_iter(data, b"\"@type\"")
        .map(|at| {
            let value = &data[at + 7..data.len().min(at + 80)];
            let value = value.split(|byte| matches!(byte, b',' | b'}' | b']')).next().unwrap_or(value);
            kinds(value)
        })
        .fold(0, |all, found| all | found)
}
