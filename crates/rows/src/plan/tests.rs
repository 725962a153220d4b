//! Plans, and what is said of their options.

use super::*;

fn no_file(_: &str) -> std::result::Result<String, String> {
    Err("there are no files here".to_owned())
}

fn plan(chain: Option<&str>, engine: Engine, options: &[(&str, &str)], write_kept: Option<KeptForm>) -> Plan {
    let mut given = Given::default();
    options.iter().for_each(|(name, value)| given.set(name, *value, Origin::CommandLine));
    let chain = chain.map(str::to_owned);
    Plan::of(
        Asked { chain, engine, given, inputs: Vec::new(), write_kept, recall: None, notes: Vec::new() },
        &no_file,
    )
    .unwrap()
}

#[test]
fn families_have_options_of_their_own() {
    let own = |name| own_options(Family::named(name).unwrap());
    let [term_split, doc_split, ccdet, minhash] = ["term-split", "doc-split", "ccdet", "minhash"].map(own);
    for name in ["minhash", "hashes", "bands", "rows"] {
        assert!(minhash.contains(name), "{name}: {minhash:?}");
    }
    for name in ["pcp", "df-cut", "accumulators"] {
        assert!(term_split.contains(name), "{name}: {term_split:?}");
    }
    assert!(ccdet.contains("site"), "{ccdet:?}");
    // They share the candidates of one of them.
    assert!(doc_split.is_empty() && !ccdet.contains("slices"), "{doc_split:?} {ccdet:?}");
    for name in ["tau", "idf", "idf-lookup", "features", "max-pairs", "cluster", "write", "keep", "ranked"] {
        assert!(!term_split.contains(name) && !ccdet.contains(name), "{name}");
    }
}

#[test]
fn a_chain_that_is_not_named_is_the_one_that_has_the_options() {
    let by_options = |options: &[(&str, &str)]| {
        let plan = plan(None, Engine::Local, options, None);
        (plan.family.name, plan.notes.join("; "))
    };
    let (name, note) = by_options(&[("tau", "0.5")]);
    assert_eq!((name, note.as_str()), ("doc-split", "no chain is named, so doc-split is taken"));
    let (name, note) = by_options(&[("pcp", "prefix")]);
    assert_eq!(name, "term-split");
    assert!(note.ends_with("for it alone has --pcp"), "{note}");
}

/// What is said of one option that is given to a chain.
fn said(
    chain: &'static Family,
    option: (&str, &str),
    origin: Origin,
    others: &[(&str, &str)],
) -> Result<Vec<String>> {
    let mut given = Given::default();
    others.iter().for_each(|(name, value)| given.set(name, *value, Origin::CommandLine));
    given.set(option.0, option.1, origin);
    let (chain, engine, inputs) = (Some(chain.name.to_owned()), Engine::Pipes, Vec::new());
    let asked = Asked { chain, engine, given, inputs, write_kept: None, recall: None, notes: Vec::new() };
    Plan::of(asked, &no_file).map(|plan| plan.notes)
}

/// Every option that another family has and this one never has, with a value, its default where it has one.
#[test]
fn an_option_that_a_chain_does_not_use_is_refused_on_the_command_line_alone() {
    let mut refused = 0;
    for family in FAMILIES {
        for field in stages::all_options() {
            let name = field.name.as_str();
            let uses =
                options_of(family).contains(name) || family.choices().any(|(choice, _)| choice == name);
            if uses || name == "queries" {
                continue;
            }
            let value = field.default.clone();
            let number = match name {
                "bloom" | "queries-memory" => "1",
                _ => "20",
            };
            let option = (name, value.as_deref().unwrap_or(number));
            let Err(error) = said(family, option, Origin::CommandLine, &[]) else {
                panic!("{} takes --{name}", family.name)
            };
            let error = error.to_string();
            let named = format!("{} does not use --{name} here", family.name);
            assert!(error.contains(&named) && error.contains("leave it out"), "{error}");
            for origin in [Origin::Environment, Origin::Preset] {
                let notes = said(family, option, origin, &[]).unwrap().join("; ");
                assert!(notes.contains(&format!("--{name}, which the {origin} gives")), "{notes}");
            }
            refused += 1;
        }
    }
    assert!(refused > 60, "{refused}");
}

#[test]
fn an_option_that_goes_with_another_one_is_refused_without_it() {
    let chain = |name| Family::named(name).unwrap();
    for (family, option, with, conditions) in [
        ("doc-split", ("idf-table", "f"), ("idf", "0.2,0.85"), "--idf"),
        ("term-split", ("idf-lookup", "list"), ("idf", "0.2,0.85"), "--idf or --pcp"),
    ] {
        let error = said(chain(family), option, Origin::CommandLine, &[]).unwrap_err().to_string();
        let advice =
            format!("does not use --{} here: it does with another {conditions}; give that", option.0);
        assert!(error.contains(&advice), "{error}");
        assert_eq!(said(chain(family), option, Origin::CommandLine, &[with]).unwrap(), [""; 0]);
    }
    // What says which steps there are is used whatever it says, its default too.
    for option in [("idf", "0,1"), ("keep", "smallest-id"), ("write", "pairs")] {
        assert_eq!(said(chain("doc-split"), option, Origin::CommandLine, &[]).unwrap(), [""; 0]);
    }
    let error = said(chain("ccdet"), ("lexicons", "3"), Origin::CommandLine, &[]).unwrap_err().to_string();
    assert!(error.contains("and i-match does; take that chain, or leave it out"), "{error}");
    let error = said(
        chain("simhash"),
        ("tau", "0.7"),
        Origin::CommandLine,
        &[("queries", "q"), ("similarity", "jaccard")],
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("simhash does not use --similarity or --tau here, and doc-split"), "{error}");
    let error = said(chain("doc-split"), ("partition", "by-task"), Origin::CommandLine, &[("queries", "q")]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("--partition here: it says nothing of pairs with queries; leave it out"),
        "{error}"
    );
}

#[test]
fn options_say_where_their_values_come_from() {
    let plan = plan(
        Some("doc-split"),
        Engine::Pipes,
        &[("features", "spotsigs"), ("tau", "0.4")],
        Some(KeptForm::Jsonl),
    );
    let json = plan.json();
    assert_eq!(
        json["origins"],
        json!({
            "features": "command line", "tau": "command line", "min-features": "--features", "cluster": "--write-kept",
        })
    );
    assert_eq!(json["parameters"]["idf"], "0,1");
    assert_eq!(json["outputs"], json!(["pairs", "kept", "clusters"]));
    assert_eq!(json["steps"]["check"][0]["name"], "docsplit-query");
    assert_eq!(json["in_process"], false);
}

#[test]
fn a_family_has_defaults_of_its_own() {
    let plan = plan(Some("ccdet"), Engine::Local, &[("keep", "newest"), ("site", "url")], None);
    let json = plan.json();
    let origins = json!({
        "features": "chain", "similarity": "chain", "tau": "chain", "keep": "command line", "site": "command line",
    });
    assert_eq!(
        (&json["origins"], json["parameters"]["similarity"].as_str()),
        (&origins, Some("containment"))
    );
    assert_eq!(plan.notes, [""; 0]);
    assert_eq!(plan.columnar().map(|[front, ..]| front), Some(Columnar::SitePrunedSets));
}

#[test]
fn one_process_has_columns_for_all_but_counted_postings_and_approximations() {
    let has = |chain, options: &[(&str, &str)]| {
        plan(Some(chain), Engine::Local, options, None).columnar().is_some()
    };
    assert!(has("doc-split", &[]) && has("doc-split", &[("partition", "by-task")]));
    assert!(!has("term-split", &[]) && has("term-split", &[("pcp", "prefix")]));
    for approximation in [("df-cut", "100"), ("accumulators", "1000")] {
        assert!(!has("term-split", &[("pcp", "prefix"), approximation]));
    }
    assert!(plan(Some("doc-split"), Engine::Pipes, &[], None).columnar().is_none());
}
