//! `twinsplit explain A B`: why two documents are a pair, or are not.

mod chain;
mod fingerprints;
mod lexicons;
mod signatures;

use super::documents::{Inputs, PairOpts, RunFile, each_document, in_range};
use super::inputs::{InputOpts, with_inputs};
use super::options;
use super::run::{AND, refuse_streams};
use crate::args;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::path::PathBuf;
use twinsplit::explain::{Counts, Passage, TextFeatures, arithmetic, in_context};
use twinsplit_core::similarity::SetSimilarity;
use twinsplit_core::text::{Extractor, FeatureSpec};
use twinsplit_core::visible;
use twinsplit_engine::steps;
use twinsplit_io::Stdout;
use twinsplit_io::error::{Error, Result};
use twinsplit_io::terminal::plural;
use twinsplit_rows::chains::Family;
use twinsplit_rows::params::Params;
use twinsplit_rows::plan::{Given, refuse_unused, suitable};
use twinsplit_rows::record::document::{Document, DocumentOpts};
use twinsplit_rows::record::id;

/// The command line.
pub fn command() -> Command {
    let id =
        |name: &'static str| Arg::new(name).required(true).value_name(if name == "a" { "A" } else { "B" });
    options::with_stage_options(with_inputs(
        Command::new("explain")
            .about("Shows why two documents are a pair, or why they are not")
            .arg(id("a").help("A document's id, as pairs.tsv or a message shows it"))
            .arg(id("b").help("The other document's id"))
            .arg(
                Arg::new("run")
                    .long("run")
                    .value_name("FOLDER")
                    .value_parser(value_parser!(PathBuf))
                    .help("The output folder of a run: its input and its options are taken"),
            )
            .arg(
                Arg::new("input")
                    .short(options::INPUT)
                    .long("input")
                    .value_name("FILE")
                    .num_args(1..)
                    .value_parser(value_parser!(PathBuf))
                    .required_unless_present("run")
                    .help("The documents: files, folders, quoted patterns such as 'crawl/*.gz', or - for standard input"),
            )
            .arg(
                Arg::new("show")
                    .long("show")
                    .value_name("N")
                    .value_parser(value_parser!(usize))
                    .default_value("10")
                    .help("Passages of shared features to show; 0 shows all"),
            ),
    ))
}

/// A document's features, and whether it is compared as a whole.
#[derive(Default)]
struct Explained {
    text: TextFeatures,
    /// Where the text has too few features in the IDF range, and is compared as a whole: its hash, if there is a text.
    short: Option<Option<u128>>,
}

/// Runs the command.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let (options, of_file) = options::settled(matches)?;
    let mut params = options.params.clone();
    let given: Vec<PathBuf> = matches.get_many::<PathBuf>("input").into_iter().flatten().cloned().collect();
    let mut inputs = None;
    let run = matches.get_one::<PathBuf>("run").map(|folder| RunFile::read(folder)).transpose()?;
    let of_run = run.as_ref().and_then(|run| Family::named(run.value["chain"].as_str()?));
    let of_run = of_run.or_else(|| Family::named(&of_file?));
    let family = family_shown(of_run, &options);
    if let Some(run) = &run {
        run.complete(&mut params);
        inputs = Some(run.documents(&given, "")?);
    }
    if run.is_none() {
        // As a run without a chain's name has them.
        for (name, value) in family.defaults {
            if params.get(name).is_none() {
                params.set(name, *value);
            }
        }
    }
    refuse_unused(family, &params, &options, false)?;
    // The documents of a run are JSON lines; others may be of any format.
    let json_lines;
    let inputs = match inputs {
        Some(inputs) => inputs,
        None => {
            let found = args::read::<InputOpts>(matches)?.of(&given)?;
            let as_given = params.clone();
            found.settle(&mut params);
            json_lines = found.of_needed_fields().read(&as_given, None, true)?;
            Inputs::of(json_lines.to_vec())
        }
    };
    let queries = match &run {
        Some(run) if options.params.get("queries").is_none() => run.queries()?,
        _ => Inputs::of(steps::queries(&params)?),
    };
    let is = |name| family.name == name || of_run.is_some_and(|family| family.name == name);
    let (by_bands, by_lexicons, of_fingerprints) = (is("minhash"), is("i-match"), is("simhash"));
    let opts: PairOpts = params.parse()?;
    let spec = opts.features.spec()?;
    let wanted = ["a", "b"].map(|name| matches.get_one::<String>(name).map_or("", String::as_str));
    let show = matches.get_one::<usize>("show").copied().unwrap_or(10);
    if of_fingerprints {
        let mut out = Stdout::new();
        let pair = fingerprints::show([&inputs, &queries], wanted, &params, show, &mut out)?;
        if let (false, Some(folder)) = (pair, matches.get_one::<PathBuf>("run")) {
            chain::show(folder, true, |id, at| is_named(id, wanted[at]), &mut out)?;
        }
        say_besides(&params, &mut out)?;
        return out.flush();
    }
    if !opts.idf.idf.is_everything() && opts.idf.table.idf_table.is_none() {
        refuse_streams(&inputs, "document frequencies for --idf are counted first")?;
    }
    let [mut a, mut b] = find(&inputs, &queries, wanted, &opts, &spec)?;
    let counted = inputs.and(&queries);
    let removed = restrict(&counted, &opts, &spec, [&mut a, &mut b])?;
    let mut extractor = Extractor::new(spec);
    for document in [&mut a, &mut b] {
        let compared = opts.texts.compares(&opts.least, document.text.order.len() as u64);
        document.short = compared.then(|| extractor.text_hash(&document.text.text));
    }
    let mut out = Stdout::new();
    let may_be_joined = print(wanted, [&a, &b], &opts, removed, show, &mut out)?;
    if by_bands {
        let overlap = a.text.shared(&b.text).len() as u64;
        let lines = signatures::lines(&params, [&a.text.order, &b.text.order], overlap)?;
        out.line(b"")?;
        lines.iter().try_for_each(|line| out.line(line.as_bytes()))?;
    }
    if by_lexicons {
        out.line(b"")?;
        out.line(lexicons::line(&params, [&a, &b].map(|document| document.text.order.clone()))?.as_bytes())?;
    }
    if let (true, Some(folder)) = (may_be_joined, matches.get_one::<PathBuf>("run")) {
        chain::show(folder, false, |id, at| is_named(id, wanted[at]), &mut out)?;
    }
    say_besides(&params, &mut out)?;
    out.flush()
}

/// What a run may have done besides, so that its pairs are others than those of the texts alone.
const BESIDES: [(&str, &str); 4] = [
    (AND, "asked for another field, too"),
    ("site", "left out what the pages of one site share"),
    ("df-cut", "left out frequent features"),
    ("accumulators", "bounded the candidates of a document"),
];

/// Says of a run what it has done besides, which is not shown.
fn say_besides(params: &Params, out: &mut Stdout) -> Result<()> {
    for (name, what) in BESIDES {
        if let Some(value) = params.get(name) {
            let line = format!(
                "\nThe run {what} (--{name} {value}), which this does not show: pairs.tsv says which pairs it has found."
            );
            out.line(line.as_bytes())?;
        }
    }
    Ok(())
}

/// The family whose way to a decision is shown: that of the run, unless options ask for what another one would see of its sets.
fn family_shown(of_run: Option<&'static Family>, given: &Given) -> &'static Family {
    let (asked, _) = suitable(given);
    let of_sets = ["minhash", "i-match"].contains(&asked.name);
    of_run.filter(|family| family.name == "simhash" || !of_sets).unwrap_or(asked)
}

/// Whether a text names an id: as it is, in the escaped form of pairs.tsv, or as people are shown it.
fn is_named(id: &[u8], text: &str) -> bool {
    let mut escaped = Vec::new();
    id::escape(text.as_bytes(), &mut escaped);
    let is_shown =
        || text.contains(r"\u{") && std::str::from_utf8(id).is_ok_and(|id| visible::line(id) == text);
    id == text.as_bytes() || id == escaped || is_shown()
}

/// Calls `visit` with the documents of the two names, 0 for the first one and 1 for the second one; with queries the first one is a query.
///
/// # Errors
/// When there is none of a name.
fn each_named(
    inputs: &Inputs,
    queries: &Inputs,
    opts: &DocumentOpts,
    names: [&str; 2],
    mut visit: impl FnMut(usize, &Document<'_>),
) -> Result<()> {
    let sought = match queries.is_empty() {
        true => vec![(inputs, [true, true])],
        false => vec![(queries, [true, false]), (inputs, [false, true])],
    };
    let mut is_there = [false; 2];
    for (files, wanted) in sought {
        each_document(files, opts, "explain", |document| {
            for at in (0..2).filter(|at| wanted[*at] && is_named(&document.id, names[*at])) {
                is_there[at] = true;
                visit(at, &document);
            }
            Ok(())
        })?;
    }
    let first = if queries.is_empty() { "document" } else { "query" };
    match (0..2).find(|at| !is_there[*at]) {
        None => Ok(()),
        Some(at) => {
            let what = [first, "document"][at];
            Err(Error::Usage(format!("no {what} has the id {:?}{}", names[at], inputs.elsewhere())))
        }
    }
}

fn find(
    inputs: &Inputs,
    queries: &Inputs,
    wanted: [&str; 2],
    opts: &PairOpts,
    spec: &FeatureSpec,
) -> Result<[Explained; 2]> {
    let mut found = [Explained::default(), Explained::default()];
    let mut extractor = Extractor::new(spec.clone());
    each_named(inputs, queries, &opts.document, wanted, |at, document| {
        found[at].text = TextFeatures::of(&document.text, &mut extractor);
    })?;
    Ok(found)
}

/// Leaves out features out of the IDF range, counted over the corpus or taken from the table, and says how many.
fn restrict(
    inputs: &Inputs,
    opts: &PairOpts,
    spec: &FeatureSpec,
    documents: [&mut Explained; 2],
) -> Result<[usize; 2]> {
    if opts.idf.idf.is_everything() {
        return Ok([0, 0]);
    }
    let all = documents.iter().flat_map(|document| document.text.features.keys().copied());
    let kept = in_range(inputs, opts, spec, "explain", all)?;
    Ok(documents.map(|document| {
        let before = document.text.order.len();
        document.text.retain(|feature| kept.contains(&feature));
        before - document.text.order.len()
    }))
}

/// Shows the two documents and the decision. Gives whether other documents may have brought them into one cluster.
fn print(
    names: [&str; 2],
    documents: [&Explained; 2],
    opts: &PairOpts,
    removed: [usize; 2],
    show: usize,
    out: &mut Stdout,
) -> Result<bool> {
    let [a, b] = documents.map(|document| &document.text);
    let shared = a.shared(b);
    let (overlap, size_a, size_b) = (shared.len() as u64, a.order.len() as u64, b.order.len() as u64);
    let names = names.map(visible::line);
    let sizes = [size_a, size_b].map(|size| plural(size, "feature", "features"));
    out.line(format!("A  {}  {}", names[0], sizes[0]).as_bytes())?;
    out.line(format!("B  {}  {}", names[1], sizes[1]).as_bytes())?;
    if removed != [0, 0] {
        out.line(
            format!("   {} of A and {} of B left out by --idf {}", removed[0], removed[1], opts.idf.idf)
                .as_bytes(),
        )?;
    }
    let passages = a.passages(b);
    let shown = if show == 0 { passages.len() } else { show.min(passages.len()) };
    out.line(format!("\nShared features: {overlap}, passages: {}", passages.len()).as_bytes())?;
    for Passage { features, in_a, in_b } in &passages[..shown] {
        out.line(format!("  {}", plural(*features, "feature", "features")).as_bytes())?;
        out.line(format!("    A  {}", in_context(&a.text, in_a)).as_bytes())?;
        out.line(format!("    B  {}", in_context(&b.text, in_b)).as_bytes())?;
    }
    if shown < passages.len() {
        out.line(format!("  … {} more passages; --show 0 shows all", passages.len() - shown).as_bytes())?;
    }
    let similarity = opts.similarity.0;
    let small = [size_a, size_b].iter().any(|size| !opts.least.admits(*size));
    let pair = !small && similarity.accepts(overlap, size_a, size_b);
    out.line(b"")?;
    let counts = Counts { overlap, size_a, size_b };
    arithmetic(similarity, counts).iter().try_for_each(|line| out.line(line.as_bytes()))?;
    let why = match (pair, small) {
        (true, _) => "a pair".to_owned(),
        (false, true) => too_small(documents.map(|document| document.short), opts.least.min_features.max(1)),
        (false, false) => "not a pair".to_owned(),
    };
    out.line(format!("=> {why}").as_bytes())?;
    Ok(!pair && !small)
}

/// What is to be said of two documents of which one has fewer features than are asked for; of each the hash of its text, where it has
/// too few of them and there is a text.
fn too_small([a, b]: [Option<Option<u128>>; 2], least: u64) -> String {
    let (Some(a), Some(b)) = (a, b) else {
        return format!("not a pair: a document has fewer than --min-features {least}");
    };
    let texts = match (a, b) {
        (Some(a), Some(b)) if a == b => {
            return format!(
                "copies: both texts are too short (fewer than --min-features {least}) and equal but for white space \
                 and what --normalise, --case-fold and --marks level; not a pair, for their sets are not compared"
            );
        }
        (Some(_), Some(_)) => "their texts, compared as a whole, differ",
        _ => "a text of nothing but white space is a copy of none",
    };
    format!("not a pair: both documents have fewer than --min-features {least}; {texts}")
}
