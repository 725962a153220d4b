//! The page of a service: it asks the service for its figures and the last duplicates, and shows them.
//!
//! It is one file that needs nothing else. Style and helpers are those of `twinsplit report`.

use crate::report::page::policy;

/// The frame; lines `{{name}}` stand for the parts that follow.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = concat!(include_str!("../report/page.css"), include_str!("page.css"));
const SCRIPT: &str =
    concat!("\"use strict\";\n", include_str!("../report/helpers.js"), include_str!("page.js"));

/// The page.
pub(crate) fn page() -> String {
    FRAME
        // Its icon is one of no bytes.
        .replace("{{policy}}", &policy(STYLE, SCRIPT, "; connect-src 'self'; img-src data:"))
        .replace("{{style}}", &format!("<style>{STYLE}</style>"))
        .replace("{{script}}", &format!("<script>{SCRIPT}</script>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frame, the style and the script must not end each other's elements.
    #[test]
    fn the_frame_has_its_parts_once() {
        for part in ["{{policy}}", "{{style}}", "{{script}}"] {
            assert_eq!(FRAME.lines().filter(|line| line.trim() == part).count(), 1, "{part}");
        }
        assert!(!STYLE.contains('<') && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
        assert!(!page().contains("{{"));
    }
}
