//! Options of all kinds, read and shown.

use super::*;
use crate::choice::Choice;
use crate::sketch::minhash::Method;

options! {
    /// What is inside of another one.
    struct Inner {
        /// A file
        file: PathBuf = "order", "FILE";
    }
}

options! {
    /// All that there is.
    struct Outer {
        /// A number
        /// of things
        some_things: u64 = 1_000, "N", in 1..=2_000;
        /// A choice
        method: Method = "fast", or "way";
        /// May be left out
        slices: Option<u64>, "S", in 0..=9;
        /// May not
        needed: String;
    }
    with { inner: Inner, }
    beside { seen: bool, }
}

fn given(values: &[(&str, &str)]) -> Values {
    let mut given = Values::default();
    values.iter().for_each(|(name, value)| given.set(name, *value));
    given
}

#[test]
fn what_is_not_given_has_its_default() {
    let outer = Outer::read(&given(&[("needed", "x"), ("unknown", "y")])).unwrap();
    assert_eq!((outer.some_things, outer.method, outer.slices), (1000, Method::Fast, None));
    assert_eq!((outer.needed.as_str(), outer.inner.file.to_str(), outer.seen), ("x", Some("order"), false));
    let values =
        [("needed", "x"), ("some-things", "2000"), ("method", "classic"), ("slices", "3"), ("file", "f")];
    let outer = Outer::read(&given(&values)).unwrap();
    assert_eq!((outer.some_things, outer.method, outer.slices), (2000, Method::Classic, Some(3)));
    assert_eq!(outer.inner.file.to_str(), Some("f"));
}

#[test]
fn what_an_option_does_not_take_is_named() {
    for (option, value, problem) in [
        ("some-things", "0", "0 is not in 1..=2000"),
        ("some-things", "x", "invalid digit found in string"),
        ("method", "slow", "expected one of fast, classic"),
        ("slices", "10", "10 is not in 0..=9"),
        ("needed", "", "a value is needed"),
    ] {
        let values: &[(&str, &str)] =
            if option == "needed" { &[] } else { &[("needed", "x"), (option, value)] };
        let expected = Invalid { option: option.into(), value: value.into(), problem: problem.into() };
        assert_eq!(Outer::read(&given(values)).unwrap_err(), expected);
        let fields = Outer::fields();
        let field = fields.iter().find(|field| field.name == option).unwrap();
        assert_eq!(
            (field.check)(value.as_ref()).err(),
            Some(problem.to_owned()).filter(|_| option != "needed")
        );
    }
}

#[test]
fn fields_say_what_they_are() {
    let fields = Outer::fields();
    let names: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.default.as_deref())).collect();
    let expected = [
        ("some-things", Some("1000")),
        ("method", Some("fast")),
        ("slices", None),
        ("needed", None),
        ("file", Some("order")),
    ];
    assert_eq!(names, expected);
    assert_eq!((fields[0].about.as_str(), fields[0].shown), ("A number of things", Some("N")));
    assert_eq!((fields[0].alias, fields[1].alias), (None, Some("way")));
    assert_eq!(fields[0].variable(), "TWINSPLIT_SOME_THINGS");
    let ValueKind::Choice(choices) = &fields[1].kind else { panic!("{:?}", fields[1].kind) };
    assert_eq!(choices.len(), Method::ALL.len());
    assert_eq!([&fields[3].kind, &fields[4].kind], [&ValueKind::Text, &ValueKind::File]);
}
