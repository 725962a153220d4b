//! What the names in a page say of its elements: words of `class` and `id`.

use std::sync::LazyLock;

/// Defines the groups of words, a bit each, and the sorted table of the words.
macro_rules! groups {
    ($($group:ident = $bit:literal: $($word:literal)*;)*) => {
        $(
            #[doc = concat!("Words such as `", stringify!($group), "`.")]
            pub const $group: u32 = 1 << $bit;
        )*
        /// The words of all groups, unordered.
        const WORDS: &[(&str, u32)] = &[$($(($word, $group),)*)*];
    };
}

groups! {
    COMMENT = 0:
        "comment" "comments" "disqus" "respond" "discussion" "commentlist";
    MENU = 1:
        "nav" "navigation" "navbar" "menu" "menubar" "submenu" "subnav" "megamenu" "breadcrumb" "breadcrumbs"
        "dropdown" "hamburger" "sitemap" "topnav" "sidenav" "mega" "toolbar" "navigationbar";
    SIDEBAR = 2:
        "sidebar" "rail" "aside" "widget" "widgets" "complementary" "secondary" "tertiary" "textwidget";
    FOOTER = 3:
        "footer" "foot" "bottom" "colophon" "copyright" "legal" "contentinfo" "disclaimer";
    HEADER = 4:
        "header" "masthead" "topbar" "banner" "branding" "logo" "top";
    RELATED = 5:
        "related" "recommended" "recommendation" "recommendations" "more" "popular" "trending" "latest" "recent"
        "similar" "also" "next" "prev" "previous" "suggested" "upnext" "readmore" "featured" "further" "promo" "teaser"
        "teasers";
    SHARE = 6:
        "share" "sharing" "social" "follow" "facebook" "twitter" "linkedin" "pinterest" "whatsapp" "sharedaddy"
        "addthis" "shares" "like" "likes";
    AD = 7:
        "ad" "ads" "advert" "advertisement" "sponsor" "sponsored" "promoted" "promotion" "adslot" "gpt" "advertising"
        "leaderboard" "affiliate" "outbrain" "taboola";
    CONSENT = 8:
        "cookie" "cookies" "consent" "gdpr" "modal" "popup" "overlay" "privacy" "onetrust" "lightbox" "dialog" "notice"
        "toast" "alert" "notification" "tooltip" "ccpa";
    BYLINE = 9:
        "author" "byline" "meta" "date" "time" "published" "timestamp" "bio" "avatar" "postmetadata" "publish"
        "updated" "authors" "pubdate" "dateline" "writer" "credit" "attribution";
    SUBSCRIBE = 10:
        "newsletter" "subscribe" "subscription" "signup" "signin" "login" "register" "account" "paywall" "cta" "donate"
        "optin" "logged" "membership";
    IMAGE = 11:
        "caption" "figcaption" "image" "images" "photo" "gallery" "thumbnail" "media" "video" "carousel" "slider"
        "slide" "figure" "img" "player" "swiper";
    CONTENT = 12:
        "content" "body" "entry" "article" "text" "story" "articlebody" "prose" "markdown" "richtext" "rte" "copy"
        "paragraph" "wysiwyg" "rich" "editor" "textblock" "document";
    MAIN = 13:
        "main" "primary" "maincontent";
    PRODUCT = 14:
        "product" "price" "cart" "sku" "buy" "shop" "variant" "variants" "products" "add" "basket" "checkout" "pricing"
        "shipping" "stock";
    FORUM = 15:
        "forum" "thread" "message" "messages" "topic" "reply" "replies" "answer" "answers" "question" "threads"
        "postbody" "discourse";
    TITLE = 16:
        "title" "headline" "heading" "subtitle" "dek" "subheading" "standfirst" "subhead" "kicker";
    LEAD = 17:
        "hero" "intro" "lead" "summary" "excerpt" "description" "desc" "abstract" "overview" "about" "lede";
    FAQ = 18:
        "faq" "accordion" "faqs" "collapse" "panel" "collapsible" "toggle" "expand" "tab" "tabs" "tabpanel";
    SPEC = 19:
        "spec" "specs" "specification" "specifications" "details" "detail" "features" "feature" "attributes" "table"
        "info" "properties" "benefits" "ingredients" "recipe";
    USER = 20:
        "user" "profile" "member" "username" "signature" "sig" "poster" "reputation" "badge" "badges" "status" "online"
        "counter" "count" "stats";
    BUTTON = 21:
        "button" "btn" "buttons" "submit" "input" "form" "field" "label" "actions" "action" "controls" "control"
        "select" "option" "options";
    CARD = 22:
        "card" "cards" "grid" "tile" "tiles" "box" "boxes" "col" "column" "columns" "row" "block" "blocks" "module"
        "panels";
    POST = 23:
        "post" "posts" "hentry" "single" "blog" "news" "page" "node" "singular" "articles" "stories";
}

/// The longest word that is looked up.
const LONGEST: usize = 16;

/// The words as numbers, in order.
static TABLE: LazyLock<Vec<(u128, u32)>> = LazyLock::new(|| {
    let mut table: Vec<(u128, u32)> =
        WORDS.iter().map(|(word, group)| (packed(word.as_bytes()), *group)).collect();
    table.sort_unstable();
    table
});

/// A word of at most [`LONGEST`] bytes, as a number.
fn packed(word: &[u8]) -> u128 {
    word.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// The groups of one word in small letters.
fn group(word: u128) -> u32 {
    match TABLE.binary_search_by_key(&word, |row| row.0) {
        Ok(at) => TABLE.get(at).map_or(0, |row| row.1),
        Err(_) => 0,
    }
}

/// The groups of the words in a value of `class` or `id`: what stands between other characters than letters, and
/// between a small letter and a capital.
pub fn groups(value: &[u8]) -> u32 {
    let (mut all, mut word, mut length, mut was_small) = (0, 0u128, 0usize, false);
    for byte in value.iter().chain(b" ") {
        let is_small = byte.is_ascii_lowercase();
        if !is_small && (was_small || !byte.is_ascii_uppercase()) {
            if (2..=LONGEST).contains(&length) {
                all |= group(word);
            }
            (word, length) = (0, 0);
        }
        if byte.is_ascii_alphabetic() {
            word = word << 8 | u128::from(byte.to_ascii_lowercase());
            length += 1;
        }
        was_small = is_small;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_between_other_characters_and_capitals() {
        for (value, expected) in [
            ("", 0),
            ("comments", COMMENT),
            ("post-comments_list", POST | COMMENT),
            ("siteNav2 x", MENU),
            ("mainContent", MAIN | CONTENT),
            ("MAIN", MAIN),
            ("navigate contented", 0),
            ("a-very-long-wordwordwordword", 0),
            ("\u{e9}nav\u{e9}", MENU),
        ] {
            assert_eq!(groups(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn a_word_is_of_one_group_and_can_be_found() {
        for (word, group) in WORDS {
            assert!((2..=LONGEST).contains(&word.len()), "{word}");
            assert_eq!(groups(word.as_bytes()), *group, "{word}");
        }
    }
}
