//! The script a text is mostly written in.

use unicode_script::UnicodeScript;

pub use unicode_script::Script;

/// The name of the script that most of `text` is written in ("Latin", "Han", "Arabic", …), for warnings by
/// script: letters are counted by their bytes in UTF-8, because an ideograph says about as much as three
/// Latin letters. Ties go to the first name in the alphabet. "Common" when there are no letters.
pub fn dominant_script(text: &str) -> &'static str {
    let bytes = text.as_bytes();
    let latin = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    if text.is_ascii() {
        return if latin > 0 { Script::Latin } else { Script::Common }.full_name();
    }
    let mut counts = vec![(Script::Latin, latin)];
    for c in text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic()) {
        let script = c.script();
        if matches!(script, Script::Common | Script::Inherited) {
            continue;
        }
        match counts.iter_mut().find(|(s, _)| *s == script) {
            Some((_, n)) => *n += c.len_utf8(),
            None => counts.push((script, c.len_utf8())),
        }
    }
    counts
        .into_iter()
        .filter(|&(_, n)| n > 0)
        .map(|(script, n)| (std::cmp::Reverse(n), script.full_name()))
        .min()
        .map_or(Script::Common.full_name(), |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_letters_win() {
        assert_eq!(dominant_script("plain text"), "Latin");
        assert_eq!(dominant_script("用 iPhone 拍照"), "Han");
        assert_eq!(dominant_script("用手机拍照 a"), "Han");
        assert_eq!(dominant_script("مرحبا ok"), "Arabic");
        assert_eq!(dominant_script("Ελλάδα é"), "Greek");
        assert_eq!(dominant_script("12 + 3 😀"), "Common");
        assert_eq!(dominant_script(""), "Common");
        assert_eq!(dominant_script("文abc"), "Han"); // a tie
    }
}
