use super::*;
use crate::visible;
use proptest::prelude::*;

const PLAIN: Wanted = Wanted { templates: false, blocks_apart: false };

fn article_of(page: &str) -> String {
    article(page, PLAIN).0
}

/// The blocks of a page, each of which is a paragraph then.
fn blocks(page: &str) -> Vec<String> {
    examples(page).into_iter().map(|example| example.text).collect()
}

/// Running text of some sentences that says which one it is.
fn prose(name: &str) -> String {
    format!(
        "The {name} was opened again on Monday, two years after a flood had damaged its pillars, and hundreds of people crossed it in the \
         first hour. The mayor said that the work had cost twice as much as planned, for the ground was softer than expected."
    )
}

fn paragraph(name: &str) -> String {
    format!("<p>{}</p>", prose(name))
}

/// A page whose article has three paragraphs, with something behind the second one.
fn with(more: &str) -> String {
    let [one, two, three] = ["bridge", "tunnel", "ferry"].map(paragraph);
    format!("<html><body><h1>Crossings</h1><div class=content>{one}{two}{more}{three}</div></body></html>")
}

#[test]
fn what_is_around_an_article_is_left_out() {
    let found = article_of(include_str!("pages/article.html"));
    for kept in [
        "The bridge reopens after two years",
        "The old bridge",
        "“We had not",
        "What comes next",
        "Buses will",
        "Cyclists may",
    ] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    for left_out in ["Weather", "cookies", "Accept", "Related", "Council votes", "About time", "All rights"] {
        assert!(!found.contains(left_out), "{left_out}: {found}");
    }
}

/// There are no words in it, but characters.
#[test]
fn an_article_may_be_chinese() {
    let found = article_of(include_str!("pages/chinese.html"));
    for kept in ["横跨江面的老桥", "市长表示", "市政府表示"] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    for left_out in ["体育", "热门新闻", "市议会表决预算", "版权所有"] {
        assert!(!found.contains(left_out), "{left_out}: {found}");
    }
}

#[test]
fn an_article_may_stand_in_a_table_without_paragraphs() {
    let found = article_of(include_str!("pages/table.html"));
    for kept in ["The survey of the northern", "What they had drawn", "The map hangs"] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    assert!(!found.contains("Contact") && !found.contains("Two"), "{found}");
}

#[test]
fn pages_of_other_kinds_keep_what_they_are_there_for() {
    let found = article_of(include_str!("pages/forum.html"));
    for kept in ["I want to cut", "A frame saw", "Same here", "Before you buy", "Thank you all"] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    assert!(!found.contains("Log in") && !found.contains("Powered"), "{found}");
    let found = article_of(include_str!("pages/list.html"));
    for kept in ["Steel kettle, 1.7 litres€29.90", "Glass kettle", "Travel kettle"] {
        assert!(found.contains(kept), "{kept}: {found}");
    }
    assert!(!found.contains("Terms"), "{found}");
}

/// Where nothing may be content, all may be, and a page with any text keeps some.
#[test]
fn a_page_with_text_keeps_some() {
    for page in [
        "x",
        "<nav>only a menu</nav>",
        "<body hidden>y",
        "<footer>a</footer><nav>b</nav>",
        "<select><option>a<option>b</select>",
    ] {
        assert!(!article_of(page).is_empty(), "{page}");
    }
    for page in ["", " ", "<p></p>", "<script>x</script>", "<title>x</title>"] {
        assert_eq!(article_of(page), "", "{page}");
    }
}

/// Text as good as that of the article, in elements that say that it is none.
#[test]
fn what_says_that_it_is_no_content_is_left_out() {
    let other = prose("barrage");
    let is_kept = |element: &str| {
        let name = element.split(' ').next().unwrap();
        article_of(&with(&format!("<{element}>{}</{name}>", paragraph("barrage")))).contains(&other)
    };
    assert!(is_kept("div") && is_kept("section") && is_kept("div style='display:block'"));
    for element in [
        "nav",
        "footer",
        "dialog",
        "button",
        "label",
        "div role=navigation",
        "div role=contentinfo",
        "div role=dialog",
        "div role=alertdialog",
        "div hidden",
        "div style='color: red; Display : none'",
    ] {
        assert!(!is_kept(element), "{element}");
    }
    // It is not read aloud for it is shown twice, or all of it is a picture: no reason by itself.
    assert!(is_kept("div aria-hidden=true"));
}

/// Scripts show pages that hide all of their text at first.
#[test]
fn what_is_hidden_counts_where_it_is_most_of_the_page() {
    let page = with("").replace("<body>", "<body style='display:none'>");
    let found = article_of(&page);
    assert!(["bridge", "tunnel", "ferry"].iter().all(|name| found.contains(&prose(name))), "{found}");
    let third = with(&format!("<div hidden>{}</div>", paragraph("barrage")));
    assert!(!article_of(&third).contains("barrage"));
}

#[test]
fn what_is_no_text_is_none_of_the_article() {
    let found = article_of(&with(
        "<template><p>Template, of some text.</p></template><script>var x = 'Script, of some text.';</script><noscript><p>As read without scripts, this page has one more sentence, which is long enough to be one.</p></noscript>",
    ));
    assert!(!found.contains("Template") && !found.contains("Script,"), "{found}");
}

#[test]
fn gaps_are_the_widest_since_the_last_block_that_is_kept() {
    let text = b"a\n\nb\tc\nd";
    let block = |gap, start, end| Block { element: 0, gap, start, end, links: 0 };
    let blocks = [block(0, 0, 1), block(1, 3, 4), block(4, 5, 6), block(6, 7, 8)];
    let join = |kept: [bool; 4]| String::from_utf8(joined(text, &blocks, &kept)).unwrap();
    assert_eq!(join([true; 4]), "a\n\nb\tc\nd");
    assert_eq!(join([true, false, true, false]), "a\n\nc");
    assert_eq!(join([false, true, false, true]), "b\nd");
    assert_eq!(join([false, false, true, true]), "c\nd");
    assert_eq!(join([false; 4]), "");
}

#[test]
fn blocks_are_what_stands_between_blocks_cells_and_empty_lines() {
    let page = "<div>a <b>b</b><p>c<br>d<br><br>e</div><ul><li>f<li>g</ul><table><tr><td>h<td>i<tr><th>j</table><pre>k\n\nl</pre>m";
    assert_eq!(blocks(page), ["a b", "c\nd", "e", "f", "g", "h", "i", "j", "k\n\nl", "m"]);
}

/// Deeper than any element is kept, and as large as pages become: the work is linear, so that this ends.
#[test]
fn depth_and_size_do_not_matter() {
    let deep = format!("{}{}{}", "<div>".repeat(300_000), paragraph("bridge"), "</div>".repeat(300_000));
    assert_eq!(article_of(&deep), prose("bridge"));
    let open = format!("{}{}", "<x-y><div class=a><li>".repeat(100_000), paragraph("bridge"));
    assert!(article_of(&open).contains(&prose("bridge")));
    let ends = format!(
        "{}{}{}",
        "<section>".repeat(400),
        "</div></p></x-y><p>a".repeat(200_000),
        paragraph("bridge")
    );
    assert!(article_of(&ends).contains(&prose("bridge")));
    let large = with("").repeat(10_000_000 / with("").len());
    assert!(article_of(&large).len() > 5_000_000);
}

/// Nothing is lost of a page of which not all blocks can be looked at.
#[test]
fn a_page_of_too_many_blocks_is_taken_whole() {
    let page = format!("<nav><p>menu</nav>{}", "<p>ab".repeat(600_000));
    assert_eq!(article(&page, PLAIN), visible(&page, PLAIN));
}

proptest! {
    /// Whatever the page, the article is blocks of its visible text, in their order: nothing is invented.
    #[test]
    fn an_article_is_blocks_of_the_text(parts in proptest::collection::vec(prop::sample::select(vec![
        "word ", "中文，", "A sentence of some length, with a comma, that ends here. ", "<p>", "</p>", "<div class='content nav'>", "</div>",
        "<a href=x>", "</a>", "<td>", "<tr>", "<table>", "</table>", "<li>", "<ul>", "</ul>", "<br>", "<br><br>", "<nav>", "</nav>", "<pre>", "\n",
        "</pre>", "<x-y>", "</x-y>", "<article>", "</article>", "<h1>", "</h1>", "<span hidden>", "<div hidden>", "<template>", "</template>",
        "<script type=application/ld+json>{\"@type\":\"Product\"", "</script>", "&amp;", "<footer>", "</footer>",
    ]), 0..60), apart: bool) {
        let (page, wanted) = (parts.concat(), Wanted { templates: false, blocks_apart: apart });
        let ((found, in_templates), (text, as_visible)) = (article(&page, wanted), visible(&page, wanted));
        prop_assert_eq!(in_templates, as_visible);
        let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let all: Vec<String> = words(&text);
        let blocks: Vec<String> = blocks(&page);
        prop_assert_eq!(&words(&blocks.join(" ")), &all);
        // Each block of the article is a block of the text, in order.
        let mut rest = found.as_str();
        for block in &blocks {
            rest = rest.trim_start_matches(['\n', '\t']);
            if let Some(more) = rest.strip_prefix(block.as_str()).filter(|more| more.is_empty() || more.starts_with(['\n', '\t'])) {
                rest = more;
            }
        }
        prop_assert_eq!(rest, "");
        prop_assert_eq!(found.is_empty(), text.is_empty());
    }

    #[test]
    fn any_page_is_read(page in "\\PC{0,80}|(<|>|/|!|-|&|;|#|class=nav|p|table|td|li|a href=x|[a-z \n'\"=]){0,60}") {
        article_of(&page);
    }
}
