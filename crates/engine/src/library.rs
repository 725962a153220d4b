//! What scripts share is a library beside them, `jobs/lib`, written once in the script's own language. A script finds it
//! there, where twinsplit is installed, or in the folder that `JOBS_LIB` names; or it has it inside, in one file.

/// The files of the library for bash by their names.
const BASH: [(&str, &str); 3] = [
    ("twinsplit.sh", include_str!("../../../jobs/lib/twinsplit.sh")),
    ("pipes.sh", include_str!("../../../jobs/lib/pipes.sh")),
    ("hadoop.sh", include_str!("../../../jobs/lib/hadoop.sh")),
];

/// The modules of the library for Python in the order in which each uses those before it.
const PYTHON: [&str; 3] = [
    include_str!("../../../jobs/lib/twinsplit_spark/files.py"),
    include_str!("../../../jobs/lib/twinsplit_spark/tasks.py"),
    include_str!("../../../jobs/lib/twinsplit_spark/chain.py"),
];

/// The version that a script states; the library and the program must be of the same.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where a script has the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Beside it: the script is a page.
    Beside,
    /// Inside: the script is one file that needs nothing else.
    Inside,
}

/// How a page in Python finds the library. What `--py-files` ships goes first.
const FIND_PYTHON: &str = r#"import os, shutil, sys

# The library is in JOBS_LIB, beside this script's folder, or where twinsplit is installed.
here, program = os.path.dirname(os.path.abspath(__file__)), os.path.dirname(shutil.which("twinsplit") or "")
sys.path += [os.environ["JOBS_LIB"]] if os.environ.get("JOBS_LIB") else [here + "/../lib", program + "/../share/twinsplit/lib"]
sys.dont_write_bytecode = True  # nothing beside it
try:
    from twinsplit_spark.chain import Chain
except ModuleNotFoundError as error:
    sys.exit("error: %s: let JOBS_LIB be the folder that holds twinsplit_spark, jobs/lib of the sources, or take the program that twinsplit plan prints with --inline" % error)
"#;

impl Library {
    /// What stands in a script in bash before its chain, for a file of the library.
    pub fn bash(self, file: &str) -> String {
        if self == Library::Inside {
            return with_neighbours(file);
        }
        format!(
            "# The library is in JOBS_LIB, beside this script's folder, or where twinsplit is installed.\n\
             [[ -n ${{JOBS_LIB:-}} ]] || for JOBS_LIB in \"$(dirname \"$0\")/../lib\" \"$(dirname \"$(command -v twinsplit)\")/../share/twinsplit/lib\"; do [[ ! -f $JOBS_LIB/{file} ]] || break; done\n\
             [[ -f $JOBS_LIB/{file} ]] || {{ echo \"error: {file} is not found: let JOBS_LIB be its folder, jobs/lib of the sources, or take the script that twinsplit plan prints with --inline\" >&2; exit 1; }}\n\
             source \"$JOBS_LIB/{file}\"\n"
        )
    }

    /// What stands in a program for Spark before its chain.
    pub fn python(self) -> String {
        if self == Library::Beside {
            return FIND_PYTHON.to_owned();
        }
        let lines = PYTHON.iter().flat_map(|module| module.lines());
        // In one file nothing is imported from the others.
        lines.filter(|line| !line.starts_with("from .")).map(|line| format!("{line}\n")).collect()
    }
}

/// A file of the library, with those that it reads in their places.
fn with_neighbours(file: &str) -> String {
    let text = BASH.iter().find(|(name, _)| *name == file).map_or("", |(_, text)| text);
    let mut whole = String::new();
    for line in text.lines() {
        let other = line.strip_prefix("source \"$JOBS_LIB/").and_then(|rest| rest.strip_suffix('"'));
        whole.push_str(&other.map_or_else(|| format!("{line}\n"), with_neighbours));
    }
    whole
}
