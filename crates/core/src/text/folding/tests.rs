//! What is left of a text, held against slow and obvious definitions over whole texts.

use super::*;
use crate::text::{Extractor, FeatureKind, FeatureSpec};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

const NFKC: Normaliser = Normaliser { form: NormalForm::Nfkc, case_fold: true, marks: Marks::Drop };
const NFC: Normaliser = Normaliser { form: NormalForm::Nfc, case_fold: true, marks: Marks::Keep };
const NONE: Normaliser = Normaliser { form: NormalForm::None, case_fold: false, marks: Marks::Keep };

/// Whether a character has a property, by another table.
fn is(property: &str, c: char) -> bool {
    let class = regex_syntax::parse(&format!(r"\p{{{property}}}")).unwrap();
    let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = class.kind() else {
        panic!("{property} is a class");
    };
    class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c))
}

fn all(property: &str) -> Vec<char> {
    let class = regex_syntax::parse(&format!(r"\p{{{property}}}")).unwrap();
    let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = class.kind() else {
        panic!("{property} is a class");
    };
    class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect()
}

fn extractor(kind: &str, normaliser: Normaliser) -> Extractor {
    let kind = FeatureKind::parse(kind, &|_| Err("no files here".into())).unwrap();
    let Normaliser { form, case_fold, marks } = normaliser;
    Extractor::new(FeatureSpec { kind, form, case_fold, marks, counts: false })
}

fn features(kind: &str, normaliser: Normaliser, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    extractor(kind, normaliser).each(text, |feature, _| out.push(feature.to_string()));
    out
}

#[test]
fn ignorable_is_the_property_of_unicode() {
    let expected = all("Default_Ignorable_Code_Point");
    assert!(expected.len() > 4000);
    let found: Vec<char> = ('\0'..=char::MAX).filter(|c| is_ignorable(*c)).collect();
    assert_eq!(found, expected);
}

/// Whatever nobody sees, anywhere in a word, between words or alone, changes no feature of any kind.
#[test]
fn what_nobody_sees_changes_nothing() {
    let plain = "the Donau is far. The ferry left at six. 用户拍照，手机。\n";
    // Of plane 14 a few tags and selectors stand for all.
    let mut ignorable = all("Default_Ignorable_Code_Point");
    ignorable.retain(|c| *c < '\u{e0000}' || u32::from(*c) % 32 == 1);
    assert!(ignorable.len() > 200);
    for kind in ["words:2", "chars:4", "lines", "sentence-ends:5", "sentences:2", "spotsigs", "jieba"] {
        for normaliser in [NFC, NFKC] {
            let mut extractor = extractor(kind, normaliser);
            let mut features = |text: &str| {
                let mut out = Vec::new();
                extractor.hashes(text, &mut out);
                (out, extractor.text_hash(text))
            };
            let expected = features(plain);
            assert!(!expected.0.is_empty() && expected.1.is_some());
            for c in &ignorable {
                let text: String = plain.chars().flat_map(|own| [own, *c]).collect();
                assert_eq!(features(&text), expected, "{kind} {c:?}");
                assert_eq!(features(&format!(" {c}\n{c}{c}")), (Vec::new(), None), "{kind} {c:?}");
            }
        }
    }
}

/// Every white space of Unicode separates words and is one blank, in every normal form.
#[test]
fn every_white_space_separates() {
    for c in all("White_Space") {
        for normaliser in [NONE, NFC, NFKC] {
            let text = format!("{c}1{c}a_{c}{c}b 2{c}5,{c}");
            assert_eq!(features("words:1", normaliser, &text), ["1", "a_", "b", "2", "5"], "{c:?}");
            assert_eq!(features("chars:7", normaliser, &text)[0], "1 a_ b ", "{c:?}");
            assert_eq!(features("sentence-ends:9", normaliser, &format!("a{c}b.{c}d")), ["ab"], "{c:?}");
            let lines = features("lines", normaliser, &text).concat();
            assert_eq!(lines.replace(' ', ""), "1a_b25,", "{c:?}");
            let mut extractor = extractor("lines", normaliser);
            assert_eq!(extractor.text_hash(&text), extractor.text_hash("1 a_ b 2 5,"), "{c:?}");
        }
    }
}

#[test]
fn what_is_seen_stays() {
    let stays = |text: &str| assert_eq!(fold(text, NFC), text, "{text:?}");
    let becomes = |text: &str, expected: &str| assert_eq!(fold(text, NFC), expected, "{text:?}");
    // Families, a flag, a heart on fire with its selector gone, a flag of a region.
    stays("👨\u{200d}👩\u{200d}👧 👩🏽\u{200d}🚀 ab");
    becomes("🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}\u{200d}🔥", "🏳\u{200d}🌈 ❤\u{200d}🔥");
    stays("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}");
    becomes("a\u{e0067}\u{e0062}\u{e007f}👩\u{e0041} 👩\u{200d}", "a👩 👩");
    becomes("1\u{fe0f}\u{20e3} ❤\u{fe0e}葛\u{e0100} \u{1820}\u{180e}\u{180b}", "1\u{20e3} ❤葛 \u{1820}");
    // Persian: letters that join are kept apart; there is nothing to keep apart behind letters that do not.
    stays("می\u{200c}خواهم کتاب\u{200c}ها");
    becomes("کار\u{200c}خانه\u{200c} \u{200c}آب", "کارخانه آب");
    becomes("ب\u{200d}ب ه\u{200d}. می\u{200c}\u{200c}\u{ad}خ", "بب ه\u{200d}. می\u{200c}خ");
    // A mark between the letter and the joiner.
    stays("ی\u{64e}\u{200c}خ");
    // Indic: half forms and open viramas.
    stays("क\u{94d}\u{200d}ष क\u{94d}\u{200c}ष ന\u{d4d}\u{200d} র\u{200d}\u{9cd}য");
    becomes("क\u{200d}ष क\u{94d}\u{200c} a\u{200d}b\u{200c}c 用\u{200d}户", "कष क\u{94d} abc 用户");
    // Not in the others' way.
    assert_eq!(fold("می\u{200c}خواهم", NONE), "می\u{200c}خواهم");
    assert_eq!(fold("a\u{ad}\u{202f}b\u{feff}", NONE), "a\u{ad} b\u{feff}");
}

#[test]
fn what_looks_alike_is_alike() {
    let alike = |kind: &str, a: &str, b: &str| assert_eq!(features(kind, NFKC, a), features(kind, NFKC, b));
    for kind in ["words:1", "chars:2", "lines"] {
        alike(kind, "don’t don‘t donʼt don´t don＇t", "don't don't don't don't don't");
        alike(kind, "Ｆｕｌｌ　ｗｉｄｔｈ １２３，４ （ａ）：ｂ", "Full width 123,4 (a):b");
        alike(
            kind,
            "“quoted” «so» „or so‟ ‚or so‛ non\u{2011}stop",
            "\"quoted\" \"so\" \"or so\" 'or so' non-stop",
        );
        alike(kind, "ｶﾞｷﾞ ﾊﾟ ｱﾊﾟｰﾄ", "ガギ パ アパート");
        alike(kind, "自下月１日起，由２元調至３元｡", "自下月1日起,由2元調至3元。");
        alike(kind, "ﬁne oﬀice №5 ℃ …‼", "fine office No5 °C ...!!");
        alike(kind, "\u{fefb}\u{fedf}\u{feb3}", "لالس");
        alike(kind, "⼈⽂", "人文");
        alike(kind, "צה״ל ג׳", "צה\"ל ג'");
    }
    let differ = |a: &str, b: &str| assert_ne!(features("words:1", NFC, a), features("words:1", NFC, b));
    differ("don’t", "don't");
    differ("１２", "12");
}

#[test]
fn marks_of_arabic_and_hebrew_may_be_left_out() {
    for (marked, plain) in [
        ("وزاـرة اـلتعليم", "وزارة التعليم"),
        ("كَتَبَ الرَّحْمٰنِ", "كتب الرحمن"),
        ("שָׁלוֹם וּבְרָכָה \u{fb2a}\u{fb4b}", "שלום וברכה שו"),
        ("בְּרֵאשִׁ֖ית בָּרָ֣א", "בראשית ברא"),
        ("\u{fe76} \u{fcf2}", " \u{20}"),
    ] {
        for form in [NormalForm::Nfc, NormalForm::Nfkc] {
            let (drop, keep) = (Normaliser { form, ..NFKC }, Normaliser { form, marks: Marks::Keep, ..NFKC });
            if form == NormalForm::Nfkc || !marked.contains('\u{fe76}') {
                assert_eq!(features("words:1", drop, marked), features("words:1", drop, plain), "{marked}");
            }
            assert_ne!(features("lines", keep, marked), features("lines", keep, plain), "{marked}");
        }
    }
    // A hamza or a madda makes another letter.
    for text in ["آ أ إ ؤ ئ", "ا\u{653} ی\u{654}", "ۂ ۓ"] {
        let composed: String = text.nfc().collect();
        assert_eq!(fold(text, NFKC).nfc().collect::<String>(), composed);
    }
    // Every mark is one of the two scripts, and none is a letter, but for the tatweel.
    for c in ('\0'..=char::MAX).filter(|c| is_optional_mark(*c) && *c != '\u{640}') {
        assert!(
            is("Mn", c) && (is("scx=Arab", c) || is("scx=Hebr", c) || is("Script=Inherited", c)),
            "{c:?}"
        );
    }
}

/// The definition, over the whole text: NFKC of what is no longer ignorable, marks left out of its decomposition. Joiners and tags, which
/// depend on their neighbours, are not asked about.
fn naive(text: &str, normaliser: Normaliser, ignorable: &[char]) -> String {
    let seen = text.chars().filter(|c| ignorable.binary_search(c).is_err());
    let ascii = |c| match normaliser.form {
        NormalForm::Nfkc => quotation_mark(c).unwrap_or(c),
        _ => c,
    };
    let blank = |c| if c == '\u{202f}' { ' ' } else { c };
    let seen = seen.map(ascii).map(blank);
    let parts: Vec<char> = match normaliser.form {
        NormalForm::Nfkc => seen.nfkd().map(ascii).collect(),
        _ => seen.nfd().collect(),
    };
    let dropped = |c: &char| normaliser.marks == Marks::Drop && is_optional_mark(*c);
    parts.into_iter().filter(|c| !dropped(c)).nfc().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Words, characters and lines are those of the text that is folded and composed as a whole, and stand where they stood.
    #[test]
    fn features_are_those_of_the_whole_folded(
        parts in prop::collection::vec(prop_oneof![
            4 => "[a-cA-C1',. ]{1,4}",
            2 => "[\u{ad}\u{34f}\u{200b}\u{200e}\u{2060}-\u{2064}\u{fe00}-\u{fe0f}\u{feff}\u{115f}\u{3164}\u{ffa0}\u{180e}\u{e0101}]",
            2 => "[’‘ʼ´“”«\u{2010}\u{2011}ａＢ１，．：ｶﾞ\u{ffa1}\u{ffc2}ﬁ½²㍿⼈\u{202f}\u{a0}\u{3000}é\u{301}\u{327}]",
            2 => "[سلاهر\u{640}\u{64e}\u{651}\u{653}\u{654}של\u{5c1}\u{5b8}\u{fb2a}\u{fefb}\u{fdfa}\u{fe70}]",
            1 => "[用户拍照\u{f900}가か\u{3099}\u{1100}\u{1161}ßİŉΐ]",
            1 => any::<char>().prop_map(String::from),
        ], 0..40),
        form in prop::sample::select(vec![NormalForm::Nfc, NormalForm::Nfkc]),
        marks in prop::sample::select(vec![Marks::Drop, Marks::Keep]),
    ) {
        let ignorable = all("Default_Ignorable_Code_Point");
        let mut text = parts.concat();
        text.retain(|c| !matches!(c, '\u{200c}' | '\u{200d}' | '\u{e0020}'..='\u{e007f}'));
        if text.chars().any(crate::text::han::is_han) {
            // A mark of another script ends a run of Han characters, wherever NFC puts it.
            text.retain(|c| !matches!(c, '\u{5c1}' | '\u{5b8}' | '\u{fb2a}'));
        }
        let normaliser = Normaliser { form, case_fold: true, marks };
        let whole = naive(&text, normaliser, &ignorable);
        let plain = Normaliser { marks: Marks::Keep, ..normaliser };
        for kind in ["words:1", "words:2", "chars:1", "chars:3", "lines", "spotsigs"] {
            prop_assert_eq!(features(kind, normaliser, &text), features(kind, plain, &whole), "{} of {:?} by {:?}", kind, text, whole);
        }
        let mut folding = Folding::default();
        let folded = folding.fold::<true>(&text, normaliser);
        let starts: Vec<usize> = folded.text.char_indices().map(|(at, _)| at).collect();
        for (number, from) in starts.iter().enumerate() {
            let to = starts.get(number + 1).copied().unwrap_or(folded.text.len());
            let original = folded.original(*from..to);
            let own = fold(&text[original.clone()], normaliser);
            prop_assert!(own.contains(&folded.text[*from..to]), "{:?} is {:?}", &text[original], own);
        }
    }
}
