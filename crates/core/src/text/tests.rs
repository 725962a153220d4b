//! Specifications, and what holds for every kind of feature on any text.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::*;

const NFKC: normalise::Normaliser =
    normalise::Normaliser { form: NormalForm::Nfkc, case_fold: true, marks: Marks::Drop };

fn parse(spec: &str) -> Result<FeatureKind, TextError> {
    FeatureKind::parse(spec, &|name| match name {
        "good.tsv" => Ok("antecedent\tThe\t1\nantecedent\tthe\t2\nstop\tof\nchain\t2\n".into()),
        _ => Err("no such file".into()),
    })
}

fn kinds() -> Vec<FeatureKind> {
    [
        "words:1",
        "words:3",
        "chars:1",
        "chars:4",
        "spotsigs",
        "spotsigs:zh",
        "spotsigs:good.tsv",
        "sentence-ends:4",
        "sentences:1",
        "sentences:3",
        "lines",
        "jieba",
    ]
    .map(|spec| parse(spec).expect("a good specification"))
    .to_vec()
}

#[test]
fn specifications_print_canonically() {
    for (spec, canonical) in [
        ("words", "words:3"),
        ("words:007", "words:7"),
        ("chars", "chars:9"),
        ("chars:1000", "chars:1000"),
        ("sentence-ends", "sentence-ends:10"),
        ("sentences", "sentences:5"),
        ("lines", "lines"),
        ("jieba", "jieba"),
        ("spotsigs", "spotsigs"),
        ("spotsigs:zh", "spotsigs:zh"),
        ("spotsigs:good.tsv", "spotsigs:good.tsv"),
    ] {
        let kind = parse(spec).expect("a good specification");
        assert_eq!(kind.to_string(), canonical);
        assert_eq!(parse(canonical), Ok(kind));
    }
}

#[test]
fn sentences_are_told_by_their_longest_words() {
    let of = |spec: &str, text: &str| {
        features(&FeatureSpec::new(parse(spec).expect("a good specification")), text)
    };
    let text = "Home | News\n\nThe ferry left the harbour at six.  Nobody (but 3.5 gulls)\nsaw it! See example.com? No end";
    assert_eq!(of("sentences:2", text), ["harbour ferry", "nobody gulls", "example.com see"]);
    // Small words, their order and punctuation do not count; nor does how often a word occurs.
    assert_eq!(of("sentences:3", "At six left a ferry, a ferry: harbour."), ["harbour ferry left"]);
    assert_eq!(of("sentences", "b b a. !? …. \n x y\n \t\nz."), ["a b", "z"]);
    // Words of Chinese are those of the dictionary, and all that are equally long come in the order of bytes.
    assert_eq!(of("sentences:1", "我来到北京清华大学！谁？"), ["清华大学", "谁"]);
}

/// More stop words behind an antecedent than are looked back at.
#[test]
fn a_chain_stays_open_over_many_stop_words() {
    let spec = FeatureSpec::new(parse("spotsigs").expect("a good specification"));
    let text = format!("would {}北京 清华大学", "of ".repeat(300));
    assert_eq!(features(&spec, &text), ["would:北京"]);
}

#[test]
fn least_numbers_of_features() {
    assert_eq!(parse("spotsigs").map(|k| k.min_features_default()), Ok(4));
    assert_eq!(parse("spotsigs:zh").map(|k| k.min_features_default()), Ok(1));
    assert_eq!(parse("words").map(|k| k.min_features_default()), Ok(1));
}

#[test]
fn specification_errors_say_what_was_expected() {
    for (spec, message) in [
        ("words:0", "words:K needs K from 1 to 1000, found words:0"),
        ("words:1001", "words:K needs K from 1 to 1000, found words:1001"),
        ("words:", "words:K needs K from 1 to 1000, found words:"),
        ("chars:+3", "chars:K needs K from 1 to 1000, found chars:+3"),
        ("sentence-ends:ten", "sentence-ends:K needs K from 1 to 1000, found sentence-ends:ten"),
        ("chars:99999999999999999999", "chars:K needs K from 1 to 1000, found chars:99999999999999999999"),
        ("lines:3", "expected lines, without a parameter, found lines:3"),
        ("spotsigs:", "expected spotsigs, spotsigs:zh or spotsigs:FILE, found spotsigs:"),
        ("spotsigs:none.tsv", "cannot read the SpotSigs file none.tsv: no such file"),
    ] {
        assert_eq!(parse(spec).expect_err(spec).to_string(), message);
    }
    let unknown = parse("Words:5").expect_err("case matters").to_string();
    assert!(unknown.contains("sentence-ends:K") && unknown.contains("found Words:5; "), "{unknown}");
    for (spec, near) in [
        ("Words:5", Some("words:5")),
        ("word:5", Some("words:5")),
        ("shingles:4", Some("words:4")),
        ("ngram", Some("words")),
        ("chras:9", Some("chars:9")),
        ("line", Some("lines")),
        ("spotsig:zh", Some("spotsigs:zh")),
        ("word:0", None),
        ("spotsig:FILE", None),
        ("html", None),
    ] {
        let error = parse(spec).expect_err(spec).to_string();
        assert_eq!(error.split_once("; the nearest is ").map(|(_, near)| near), near, "{error}");
    }
}

/// Text with much of what can go wrong: words of several scripts, marks, white space, full stops.
fn text() -> impl Strategy<Value = String> {
    let unit = prop_oneof![
        8 => "the |is |that |of |The |a|B|7|\\.|\\. |,|'|_",
        3 => "[\u{300}\u{301}\u{327}\u{345}\u{1100}\u{1161}\u{11a8}\u{3099}éßΣİŉΐ가か]",
        3 => "[\u{ad}\u{34f}\u{200b}-\u{200f}\u{2060}\u{fe00}\u{fe0f}\u{feff}\u{115f}\u{e0061}\u{1f3f4}👩❤क\u{94d}]",
        3 => "[سلامهر\u{640}\u{64e}\u{653}\u{654}של\u{5c1}\u{5b8}\u{fb2a}\u{fefb}\u{fdfa}]",
        3 => "[’‘ʼ“”´\u{2010}ａＢ１，！ｶ\u{ff9e}\u{ffa1}ﬁ½²…㍿\u{202f}]",
        3 => "[北京清华大学的了是在。．｡、々〇\u{f900}\u{2f800}]",
        2 => "[ \t\r\n\u{85}\u{a0}\u{2001}\u{2028}\u{3000}]",
        2 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(unit, 0..60).prop_map(|units| units.concat())
}

fn form() -> impl Strategy<Value = NormalForm> {
    prop::sample::select(vec![NormalForm::None, NormalForm::Nfc, NormalForm::Nfkc])
}

fn marks() -> impl Strategy<Value = Marks> {
    prop::sample::select(vec![Marks::Drop, Marks::Keep])
}

fn features(spec: &FeatureSpec, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    Extractor::new(spec.clone()).each(text, |feature, _| out.push(feature.to_string()));
    out
}

/// Marks of two scripts behind a Han character, in either order.
#[test]
fn marks_of_any_script_belong_to_a_han_character() {
    let spec = FeatureSpec::new(FeatureKind::Words(1));
    for text in ["丽\u{653}\u{94d}", "丽\u{94d}\u{653}"] {
        assert_eq!(features(&spec, text), ["丽"], "{text:?}");
    }
}

proptest! {
    #[test]
    fn set_is_the_hashes_of_each(text in text(), before in text(), form in form(), case_fold: bool, marks in marks()) {
        for kind in kinds() {
            let spec = FeatureSpec { kind, form, case_fold, marks, counts: false };
            let mut extractor = Extractor::new(spec);
            let mut set = Vec::new();
            extractor.set(&before, &mut set); // buffers must not leak from text to text
            let mut expected = Vec::new();
            extractor.each(&text, |feature, _| expected.push(crate::hash::feature(feature.as_bytes())));
            expected.sort_unstable();
            expected.dedup();
            extractor.distinct(&before, &mut set);
            extractor.distinct(&text, &mut set);
            set.sort_unstable();
            prop_assert_eq!(&set, &expected);
            extractor.set(&text, &mut set);
            prop_assert_eq!(set, expected);
        }
    }

    /// Words of Han characters that are not looked up are in no spot.
    #[test]
    fn no_spot_is_lost_with_han_words_that_are_left_out(
        units in prop::collection::vec("the |is |of |far |北京|清华大学。|的|a |b |， |7", 0..80),
        chain in 1u32..4, distance in 1u32..5, han: bool,
    ) {
        let han = if han { "antecedent\t的\t1\n" } else { "" };
        let file = format!("antecedent\tthe\t{distance}\nantecedent\tis\t1\nstop\tof\nstop\tis\nchain\t{chain}\n{han}");
        let settings = spotsigs::SpotSigs::parse("own", &file).expect("good settings");
        let normaliser = NFKC;
        let mut spotter = spotsigs::Spotter::new(&settings, normaliser);
        let text = units.concat();
        let mut all = Vec::new();
        let mut words = segment::Words::default();
        words.fill::<true>(&text, normaliser, &|_| true);
        spotter.each(&words, |spot, first, last| all.push((spot.to_vec(), words.span(first, last))));
        let mut found = Vec::new();
        words.fill::<true>(&text, normaliser, &|words| spotter.is_open(words));
        spotter.each(&words, |spot, first, last| found.push((spot.to_vec(), words.span(first, last))));
        prop_assert_eq!(found, all);
    }

    #[test]
    fn spans_are_characters_in_order(text in text(), form in form(), case_fold: bool, marks in marks()) {
        for kind in kinds() {
            let mut last = 0;
            let mut ok = true;
            Extractor::new(FeatureSpec { kind, form, case_fold, marks, counts: false }).each(&text, |feature, span| {
                ok &= !feature.is_empty() && span.start < span.end && text.get(span.clone()).is_some() && last <= span.start;
                last = span.start;
            });
            prop_assert!(ok);
        }
    }

    /// The same, written down again over single words and texts that are cut at each character.
    #[test]
    fn sentences_are_those_of_the_definition(text in text(), k in 1u32..5) {
        let text = folding::fold(&text, NFKC);
        let words = FeatureSpec::new(FeatureKind::Words(1));
        let chars: Vec<char> = text.chars().collect();
        let is = |at: Option<usize>, is: fn(char) -> bool| at.and_then(|at| chars.get(at)).is_some_and(|c| is(*c));
        let (mut expected, mut sentence) = (Vec::new(), String::new());
        for (at, c) in chars.iter().enumerate() {
            let free = at + 1 == chars.len() || chars[at + 1].is_whitespace();
            let inside = is(at.checked_sub(1), char::is_numeric) && is(Some(at + 1), char::is_numeric);
            if "。｡！？".contains(*c) || ".!?".contains(*c) && free || *c == '．' && !inside {
                // Lines, of which the last empty one cuts; the last of all is not empty as long as it has no end.
                let lines: Vec<&str> = sentence.split('\n').collect();
                let inner = 1..lines.len().saturating_sub(1);
                let from = inner.rev().find(|at| lines[*at].chars().all(char::is_whitespace)).map_or(0, |at| at + 1);
                let own: std::collections::BTreeSet<String> = features(&words, &lines[from..].join("\n")).into_iter().collect();
                let mut own: Vec<String> = own.into_iter().collect();
                own.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
                own.truncate(k as usize);
                expected.extend((!own.is_empty()).then(|| own.join(" ")));
                sentence.clear();
            } else {
                sentence.push(*c);
            }
        }
        prop_assert_eq!(features(&FeatureSpec::new(FeatureKind::Sentences(k)), &text), expected);
    }

    /// A text and its NFC are the same text: features do not depend on which was read.
    #[test]
    fn canonical_equivalents_have_the_same_features(text in text()) {
        let composed: String = text.nfc().collect();
        for kind in kinds() {
            let spec = FeatureSpec::new(kind);
            prop_assert_eq!(features(&spec, &text), features(&spec, &composed));
        }
    }

    /// The bytes of a span, read alone, make the feature again. (Not asked of Han words, which jieba cuts in
    /// context, nor of a full-width full stop and joiners, whose meaning depends on their neighbours.)
    #[test]
    fn a_span_read_alone_makes_its_feature(text in text()) {
        let depends = |c: &char| han::is_han(*c) || matches!(c, '．' | '\u{200c}' | '\u{200d}' | '\u{e0020}'..='\u{e007f}');
        let text: String = folding::fold(&text, NFKC).chars().filter(|c| !depends(c)).collect();
        for (spec, end) in [("words:1", ""), ("words:3", ""), ("chars:4", ""), ("sentence-ends:4", "。"), ("lines", "")] {
            let spec = FeatureSpec::new(parse(spec).expect("a good specification"));
            let mut found = Vec::new();
            Extractor::new(spec.clone()).each(&text, |feature, span| found.push((feature.to_string(), span)));
            // Space at the ends of a text is dropped.
            found.retain(|(feature, _)| feature.trim() == feature);
            for (feature, span) in found {
                let alone = features(&spec, &(text[span.clone()].to_string() + end));
                prop_assert!(alone.contains(&feature), "{:?} at {:?}, alone {:?}", feature, span, alone);
            }
        }
    }
}
