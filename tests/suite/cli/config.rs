//! Files of options: `--config`.

use crate::common::cli::{Place, jsonl};

const DOCS: [(&str, &str); 4] = [
    ("a", "rain fell on the harbour all night and the ferry left at six"),
    ("b", "rain fell on the harbour all night and the ferry left at seven"),
    ("c", "rain fell on the harbour all day and nobody saw the ferry go"),
    ("d", "nothing like it"),
];

fn place() -> Place {
    let here = Place::new();
    here.write("docs", jsonl(&DOCS));
    here
}

fn parameters(here: &Place, run: &str) -> serde_json::Value {
    serde_json::from_str(&here.read(&format!("{run}/run.json"))).unwrap()
}

#[test]
fn a_file_asks_for_what_options_ask_for() {
    let here = place();
    let run = "twinsplit run";
    here.write(
        "minhash.toml",
        "chain = \"minhash\"\nfeatures = \"words:2\"\ntau = 0.4\nbands = 64\nrows = 2\n",
    );
    here.say(&format!(
        "{run} minhash --features words:2 --tau 0.4 --bands 64 --rows 2 --quiet --input docs --output options"
    ))
    .ok();
    here.say(&format!("{run} --config minhash.toml --quiet --input docs --output file")).ok();
    let pairs = here.read("options/pairs.tsv");
    assert_eq!(pairs.lines().count(), 1, "{pairs}");
    // What a run and a plan say of themselves are such files as well.
    here.say(&format!("{run} --config file/run.json --quiet --input docs --output again")).ok();
    let plan =
        here.say("twinsplit plan minhash --features words:2 --tau 0.4 --bands 64 --rows 2 --json").ok();
    here.write("plan.json", plan);
    here.say(&format!("{run} --engine pipes --config plan.json --quiet --input docs --output pipes")).ok();
    for other in ["file", "again", "pipes"] {
        assert_eq!(here.read(&format!("{other}/pairs.tsv")), pairs, "{other}");
        assert_eq!(here.read(&format!("{other}/clusters.tsv")), here.read("options/clusters.tsv"), "{other}");
        assert_eq!(
            parameters(&here, other)["parameters"],
            parameters(&here, "options")["parameters"],
            "{other}"
        );
    }
    // A stream can be read once.
    let minhash = here.read("minhash.toml");
    here.with("twinsplit run --config /dev/stdin --quiet --input docs --output stream", minhash, &[]).ok();
    assert_eq!(parameters(&here, "stream")["parameters"], parameters(&here, "options")["parameters"]);
    let said = here.say("twinsplit explain a b --config minhash.toml --input docs").ok();
    assert!(said.contains("bands"), "{said}");
    let origins = &parameters(&here, "file")["origins"];
    assert_eq!((&origins["tau"], &origins["bands"]), (&"config".into(), &"config".into()), "{origins}");
}

#[test]
fn a_file_stands_behind_the_command_line_and_before_presets() {
    let here = place();
    here.write("file.toml", "tau = 0.5\nfeatures = \"words:1\"\nmin-features = 2\n");
    let line =
        "twinsplit run --quiet --input docs --config file.toml --preset zhang2011 --tau 0.6 --output out";
    here.with(line, "", &[("TWINSPLIT_MIN_FEATURES", "3")]).ok();
    let run = parameters(&here, "out");
    let value = |name: &str| {
        let text = |field: &str| run[field][name].as_str().unwrap_or_default().to_owned();
        (text("parameters"), text("origins"))
    };
    assert_eq!(value("tau"), ("0.6".into(), "command line".into()));
    assert_eq!(value("min-features"), ("3".into(), "environment".into()));
    assert_eq!(value("features"), ("words:1".into(), "config".into()));
}

/// Units are an option of the input, and decide the answer.
#[test]
fn a_run_of_units_is_not_repeated_without_them() {
    let here = place();
    here.say("twinsplit run -i docs --unit line -qo units").ok();
    here.say("twinsplit run -i docs --config units/run.json -qo again").fails(2, &["--unit line"]);
    here.say("twinsplit run -i docs --config units/run.json --unit line -qo again").ok();
    assert_eq!(here.read("again/cut.tsv"), here.read("units/cut.tsv"));
}

#[test]
fn what_is_wrong_in_a_file_is_named() {
    let here = place();
    here.write("typo.toml", "# mine\ntau = 0.5\nminfeatures = 3\n");
    here.write("value.toml", "\ntau = 1.5\n");
    here.write("table.toml", "[run]\ntau = 0.5\n");
    for (file, parts) in [
        ("typo.toml", &["typo.toml", "line 3", "minfeatures", "min-features"][..]),
        ("value.toml", &["value.toml", "line 2", "tau", "(0, 1]"]),
        ("table.toml", &["table.toml", "line 1", "run"]),
        ("none.toml", &["none.toml"]),
    ] {
        here.say(&format!("twinsplit run --input docs --output out --config {file}")).fails(1, parts);
    }
    assert!(!here.path("out").exists());
}

/// What the answer depends on beside the chain has to be given again, or is refused by name.
#[test]
fn what_a_run_did_beside_its_chain_is_asked_for_again() {
    let here = Place::new();
    let doc =
        |id: &str, title: &str| serde_json::json!({"id": id, "title": title, "text": DOCS[0].1}).to_string();
    here.write("docs", [doc("a", "red"), doc("b", "blue")].join("\n"));
    let run = "twinsplit run --quiet --input docs";
    here.say(&format!("{run} --and title:0.9:words:1 --output both")).ok();
    assert_eq!(here.read("both/pairs.tsv"), "");
    let again = format!("{run} --config both/run.json --output again");
    here.say(&again).fails(2, &["a run with --and title:0.9:words:1", "give --and, too"]);
    here.say(&format!("{again} --and title:0.8:words:1")).fails(2, &["give --and, too"]);
    here.say(&format!("{again} --and title:0.9:words:1")).ok();
    assert_eq!(here.read("again/pairs.tsv"), "");
    here.say("twinsplit explain a b --config both/run.json --input docs").ok();
    here.say(&format!("{run} --unit line --output lines")).ok();
    let again = format!("{run} --config lines/run.json --output other");
    here.say(&again).fails(2, &["a run with --unit line", "give --unit, too"]);
    here.write("page.html", "<nav>home</nav><article><p>Rain fell on the harbour all night, and the ferry left at six.</p></article>");
    let pages = "twinsplit run --quiet --input page.html";
    here.say(&format!("{pages} --html article --output articles")).ok();
    let again = format!("{pages} --config articles/run.json --output visible");
    here.say(&again).fails(2, &["a run with --html article", "give --html, too"]);
    here.say(&format!("{run} --store S --output first")).ok();
    let again = format!("{run} --config first/run.json --output second");
    here.say(&again).fails(2, &["a run with --store S", "give --store, too"]);
    here.say(&format!("{again} --against S")).ok();
    here.write("of.toml", "and = \"title:0.9\"\n");
    here.say(&format!("{run} --config of.toml --output third"))
        .fails(1, &["and is no option of a chain", "are given on the command line"]);
}
