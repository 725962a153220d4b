//! No surprises: short options, usual names, suggestions that suit, help and results on one screen, and what a run would do.

use crate::common::cli::{Place, Said, fixture, jsonl};

/// Two copies, one other document.
fn place() -> Place {
    let here = Place::new();
    here.write(
        "docs",
        jsonl(&[("a", "one two three four"), ("b", "one two three four"), ("c", "five six seven")]),
    );
    here
}

/// Runs a line at a terminal that has no colours; what it shows is `out`.
fn on_a_screen(here: &Place, line: &str) -> Said {
    let mut said = here.at_a_terminal(line, &[("TERM", "dumb")]);
    assert_eq!(said.code, 0, "script is needed (apt-get install bsdutils): {}", said.out);
    said.out = said.out.replace('\r', "");
    said
}

#[test]
fn short_options_are_the_long_ones() {
    let here = place();
    let long = here.say("twinsplit run --input docs --output long --quiet");
    let short = here.say("twinsplit run -qi docs -o short");
    assert_eq!([&long.err, &short.err], ["", ""]);
    assert_eq!(here.read("short/pairs.tsv"), here.read("long/pairs.tsv"));
    assert!(here.read("short/pairs.tsv").starts_with("a\tb\t"));
    for line in [
        "tune -qi docs --kinds words:1 --taus 0.5",
        "convert docs --format jsonl -qo made",
        "idf -i docs -o table",
        "idf --input docs --output table --overwrite",
        "explain a b -i docs",
        "report long -qi docs",
        "plan --estimate -i docs",
        "generate-corpus --documents 5 --bytes 4K -qo corpus",
    ] {
        let said = here.say(&format!("twinsplit {line}"));
        assert_eq!(said.code, 0, "{line}: {}", said.err);
    }
    assert!(here.path("made").exists() && here.path("table").exists() && here.path("corpus").exists());
}

#[test]
fn documents_without_an_option_are_told_theirs() {
    let here = place();
    let beside = here.path("doc-spli");
    for (line, word) in [
        ("run docs", "docs"),
        ("run docs -o out", "docs"),
        ("run crawl/*.gz -o out", "crawl/*.gz"),
        ("run doc-split docs -o out", "docs"),
        ("tune docs", "docs"),
        ("plan doc-split docs", "docs"),
    ] {
        let said = here.say(&format!("twinsplit {line}"));
        let error = said.fails(2, &[&format!("unexpected argument '{word}'"), &format!("-i {word}")]);
        assert!(!error.contains("term-split"), "{line}: {error}");
    }
    // A chain that was mistyped is none of them, nor is a word beside documents, unless there is such a file.
    here.say("twinsplit run both -i docs").fails(2, &["'both'", "term-split"]);
    here.say("twinsplit run doc-spli -i docs")
        .fails(2, &["'doc-spli'", "a similar value exists: 'doc-split'"]);
    std::fs::write(beside, "").unwrap();
    here.say("twinsplit run doc-spli -o out").fails(2, &["-i doc-spli"]);
}

#[test]
fn a_threshold_is_tau_wherever_it_is_typed() {
    let here = place();
    here.say("twinsplit run -qi docs -o out --threshold 0.25").ok();
    let run: serde_json::Value = serde_json::from_str(&here.read("out/run.json")).unwrap();
    assert_eq!((&run["parameters"]["tau"], &run["parameters"]["threshold"]), (&"0.25".into(), &().into()));
    here.write("options", "threshold = 0.25\n");
    let said = here.say("twinsplit plan --json --config options").ok();
    let plan: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&plan["parameters"]["tau"], &plan["origins"]["tau"]), (&"0.25".into(), &"config".into()));
    here.write("sets", "1 2\n1 2 3\n");
    assert_eq!(here.say("twinsplit join sets --threshold 0.6").ok().lines().count(), 1);
    let help = here.say("twinsplit run --help").ok();
    let tau = help.split("--tau <DECIMAL>").nth(1).unwrap().split("--min-features <N>").next().unwrap();
    assert!(tau.contains("[alias: --threshold]"), "{tau}");
    here.say("pcp-reduce --threshold 2").fails(2, &["--tau", "(0, 1]"]);
}

#[test]
fn memory_has_units_and_threads_are_at_least_one() {
    let here = place();
    for memory in ["1G", "512M", "512"] {
        here.say(&format!("twinsplit run -qi docs -o out --overwrite --memory {memory}")).ok();
    }
    let small = here.say("twinsplit run -i docs -o out --overwrite --memory 20M");
    small.fails(2, &["--memory must be at least"]);
    // A number in megabytes reaches what takes it as one.
    let queries = "twinsplit run -qi docs -o near --overwrite --queries docs --queries-memory";
    here.say(&format!("{queries} 1G")).ok();
    let tasks = |memory: &str| {
        let line = "twinsplit plan --engine hadoop --slices 2 --slice-memory";
        here.say(&format!("{line} {memory}")).ok().replace(&format!("--slice-memory {memory}"), "")
    };
    assert_eq!(tasks("2G"), tasks("2048"));
    assert_ne!(tasks("2G"), tasks("512"));
    here.write("rows", "a\t00000000000000ff\n");
    here.say("twinsplit fingerprints build rows -o index --build-memory 1G --memory 64M").ok();
    for (option, words) in [
        ("--memory 4g", &["--memory", "512M or 4G"][..]),
        ("--memory 0G", &["--memory", "at least 1"]),
        ("--memory 10K", &["--memory", "whole number of megabytes"]),
        ("--queries docs --queries-memory 0", &["--queries-memory", "at least 1"]),
        ("--threads 0", &["--threads", "at least 1", "number of cores"]),
    ] {
        here.say(&format!("twinsplit run -i docs -o none {option}")).fails(2, words);
    }
    here.with("twinsplit run -i docs -o none", "", &[("TWINSPLIT_THREADS", "0")]).fails(2, &["--threads"]);
    here.say("twinsplit join sets --tau 0.5 --threads 0").fails(2, &["at least 1"]);
    assert!(!here.path("none").exists());
}

#[test]
fn what_is_mistyped_or_called_otherwise_has_a_suggestion() {
    let here = place();
    for (option, meant) in [
        ("--thresh 0.5", "--tau"),
        ("--jaccard 0.5", "--tau"),
        ("--similarity_threshold=0.5", "--tau"),
        ("--num-perm 128", "--hashes"),
        ("--ngram 5", "--features words:K"),
        ("--shingle 5", "--features words:K"),
        ("--output-dir out", "--output"),
        ("--num-workers 4", "--threads"),
        ("--jobs 4", "--threads"),
        ("--min-feature 4", "--min-features"),
        ("--fetaures words:5", "--features"),
    ] {
        let error =
            here.say(&format!("twinsplit run -i docs -o out {option}")).fails(2, &["unexpected argument"]);
        let tips: Vec<&str> = error.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).collect();
        assert_eq!(tips, [format!("a similar argument exists: '{meant}'")], "{option}: {error}");
    }
    let error = here.say("twinsplit run -i docs -o out --unheard-of 4").fails(2, &["--unheard-of"]);
    assert!(!error.contains("tip:"), "{error}");
    // Of the words of a command that has no such option nothing is made.
    let error = here.say("twinsplit stages --jaccard 4").fails(2, &["--jaccard"]);
    assert!(!error.contains("--tau"), "{error}");
    here.say("tokenize --shingles 4").fails(2, &["'--features words:K'"]);
    here.say("twinsplit run -i docs -o out --features word:5").fails(2, &["the nearest is words:5"]);
    here.say("twinsplit run -i docs -o out --similarity jacard").fails(2, &["'jaccard'"]);
    for (variable, near) in [
        ("TWINSPLIT_TUA", Some("TWINSPLIT_TAU")),
        ("TWINSPLIT_THRESHOLD", Some("TWINSPLIT_TAU")),
        ("TWINSPLIT_SHINGLE", Some("TWINSPLIT_FEATURES")),
        ("TWINSPLIT_MEMROY", Some("TWINSPLIT_MEMORY")),
        ("TWINSPLIT_UNHEARD_OF", None),
    ] {
        let said = here.with("twinsplit run -i docs -o out", "", &[(variable, "1")]);
        let error = said.fails(2, &[&format!("variable {variable} is not")]);
        let named: Vec<&str> =
            error.split([' ', ';', '\n']).filter(|word| word.starts_with("TWINSPLIT_")).collect();
        assert_eq!(named[1..], near.into_iter().collect::<Vec<_>>(), "{error}");
    }
    assert!(!here.path("out").exists());
}

#[test]
fn help_fits_one_screen_and_says_where_the_rest_is() {
    let here = Place::new();
    for (line, words) in [
        ("twinsplit run -h", &["-i, --input", "--tau", "--dry-run", "twinsplit run --help"][..]),
        ("twinsplit -h", &["run ", "tune ", "Begin with", "COMMAND -h"]),
    ] {
        let text = on_a_screen(&here, line).out;
        assert!(text.lines().count() < 24, "{}: {text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    let all = here.say("twinsplit run --help").ok();
    for heading in ["What is compared:", "Clusters and output:", "How pairs are found, and limits of tasks:"]
    {
        assert!(all.contains(heading), "{heading}");
    }
    assert!(
        all.contains("--posting-block") && all.contains("[possible values") | all.contains("Possible values")
    );
    assert!(here.say("twinsplit --help").ok().contains("twinsplit COMMAND --help"));
}

/// The last lines at a terminal; a long run has numbers as wide as they get.
#[test]
fn a_run_ends_in_four_lines_and_what_to_do_next() {
    let here = Place::new();
    let docs = fixture("documents/en.jsonl.gz").display().to_string();
    let run =
        format!("twinsplit run doc-split -i {docs} --overwrite --write-kept --keep longest --idf 0.1,1");
    let text = on_a_screen(&here, &format!("{run} -o out")).out;
    let kept = here.read("out/kept.jsonl").lines().count();
    let clusters = here.read("out/clusters.tsv");
    let dropped = clusters.lines().filter(|line| line.contains("\tdrop\t")).count();
    let heads: std::collections::BTreeSet<_> =
        clusters.lines().filter_map(|line| line.split('\t').next()).collect();
    let lines: Vec<&str> = text.lines().collect();
    let [documents, found, left, answer, next] = lines[lines.len() - 5..] else { panic!("{text}") };
    assert!(documents.starts_with("785 documents, in ") && documents.ends_with(" s"), "{documents}");
    assert!(found.starts_with(&format!("{} clusters, {dropped} documents to drop", heads.len())), "{found}");
    assert_eq!(left, format!("{kept} documents kept"));
    assert_eq!(answer, "answer in out: pairs.tsv, kept.jsonl, clusters.tsv, run.json");
    assert_eq!(next, "next: twinsplit report out");
    assert!(!text.contains("shuffled"), "{text}");
    here.shell(&format!("{} && test -s out/report.html", &next["next: ".len()..])).ok();
    // The table is for those who ask for it, and fits.
    for engine in ["local", "pipes"] {
        let text = on_a_screen(&here, &format!("{run} -v --engine {engine} -o 'an other' 2>&1")).out;
        let own = text.lines().skip_while(|line| !line.starts_with("step ")).collect::<Vec<_>>();
        assert!(own[0].contains("shuffled") && own.len() > 10, "{text}");
        assert!(own.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(own.last(), Some(&"next: twinsplit report 'an other'"));
    }
    here.say(&format!("{run} -o out -q -v")).fails(2, &["--quiet", "--verbose"]);
}

/// What is near queries, and what a store has, is no collection with documents to keep.
#[test]
fn queries_and_stores_end_in_lines_of_their_own() {
    let here = place();
    let said = here.say("twinsplit run doc-split -i docs -o near --queries docs --features words:1");
    assert!(said.err.contains("3 documents, 3 of them in a pair with one of 3 queries, "), "{}", said.err);
    assert!(said.err.ends_with("answer in near: pairs.tsv, run.json\n"), "{}", said.err);
    let said = here.say("twinsplit run doc-split -i docs -o first --store store --features words:1");
    assert!(said.err.contains("1 cluster, 1 document to drop\nanswer in first: "), "{}", said.err);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let here = place();
    here.write("more", jsonl(&[("d", "eight nine")]));
    let bytes = here.read("docs").len() + here.read("more").len();
    let run = "twinsplit run -i docs more -o out --threads 2 --memory 1G";
    let text = here.say(&format!("{run} --dry-run")).ok();
    let starts = [
        "chain    doc-split: ",
        "engine   local, 2 threads, 1024 MB",
        "input    2 files, ",
        "answer   out: pairs.tsv, ",
        "refused  nothing ",
    ];
    assert!(text.lines().zip(starts).all(|(line, start)| line.starts_with(start)), "{text}");
    assert_eq!(text.lines().count(), starts.len(), "{text}");
    assert!(text.contains(&format!("2 files, {bytes} B\n")), "{text}");
    assert!(!here.path("out").exists());
    let refused = |options: &str| {
        let text = here.say(&format!("twinsplit run -o out --dry-run {options}")).ok();
        let text = text.split("refused  ").nth(1).unwrap_or_default().to_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (options, why) in [
        ("-i docs nowhere", "nowhere: there is no such file"),
        ("-i docs --reducers 3", "--reducers is for the jobs"),
        ("-i docs --memory 20M", "--memory must be at least"),
        ("-i docs --keep newest --engine pipes", "--date"),
        ("term-split -i -", "standard input cannot be it"),
    ] {
        assert!(refused(options).contains(why), "{options}: {}", refused(options));
    }
    assert!(!here.path("out").exists());
    here.say(&format!("{run} -q")).ok();
    let answer = here.read("out/run.json");
    assert!(refused("-i docs").contains("--overwrite replaces"));
    assert!(refused("-i docs --overwrite").starts_with("nothing "));
    assert_eq!(here.read("out/run.json"), answer);
    here.write("page.html", "<p>One two three</p>");
    assert!(
        here.say("twinsplit run -i page.html -o p --dry-run").ok().contains("converted to JSON lines first")
    );
    let there = here.say("twinsplit run --engine hadoop -i hdfs:/docs -o hdfs:/out --dry-run").ok();
    assert!(there.contains("input    hdfs:/docs, in the file system of the cluster"), "{there}");
    let sampled = "twinsplit run minhash --engine hadoop -i hdfs:/docs -o hdfs:/out --recall 0.9 --dry-run";
    here.say(sampled).fails(2, &["starts no job"]);
    // What is asked for in vain is an error, as ever.
    here.say(&format!("{run} --dry-run --nonsense")).fails(2, &["--nonsense"]);
}
