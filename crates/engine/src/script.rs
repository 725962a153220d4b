//! What the engines have in common that run a chain as a script: its text in bash, and how it is run.

use super::progress::{Progress, Unit};
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
pub use twinsplit_core::visible::{quote, quote_name};
use twinsplit_io::error::{Error, Result};
use twinsplit_rows::chains::{Guard, Names, Part, Repeat, Step, Tasks};
use twinsplit_rows::params::Params;
use twinsplit_rows::record::Keys;
use twinsplit_rows::stage::{Counters, Entry};

/// The calls of a chain's steps in bash. `settings` are those of a step in an engine, which stand before its call, and
/// `limit` is the value of an option that bounds a counter.
pub fn calls(
    parts: &[Part],
    params: &Params,
    settings: impl Fn(&Step) -> Result<Vec<(&'static str, String)>>,
    limit: impl Fn(&'static str) -> String,
) -> Result<String> {
    let call = |step: &Step, names: &Names| call(step, names, (params, parts), settings(step)?);
    let text = "\n# The chain. map \"FROM…\" TO MAPPER; map_reduce P S \"FROM…\" TO MAPPER -- REDUCER: rows meet by their first P fields and\n\
                # are sorted by their first S. MAPPER --then MAPPER: both in one process.\n".to_owned();
    Ok(text + &calls_of(parts, parts, params, &call, &limit)?)
}

/// The calls of some of the parts of a chain.
fn calls_of(
    parts: &[Part],
    chain: &[Part],
    params: &Params,
    call: &impl Fn(&Step, &Names) -> Result<String>,
    limit: &impl Fn(&'static str) -> String,
) -> Result<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Step(step) => {
                text.push_str(&call(step, &Names::of(step))?);
                for guard in &step.guards {
                    let Guard { counter, advice, option } = guard;
                    text.push_str(&format!("  guard {counter} {} {}\n", limit(option), quote(advice)));
                }
                if let Some(field) = &step.field {
                    let nowhere = quote(&field.nowhere(params.get(field.option).unwrap_or_default()));
                    text.push_str(&format!("  some {} {} {nowhere}\n", field.with, field.without));
                }
            }
            Part::Repeat(repeat) => text.push_str(&rounds(repeat, call)?),
            Part::Choice(choice) => {
                let counters = choice.counters(chain);
                let counters: String =
                    counters.iter().map(|(counter, step)| format!(" {counter} {step}")).collect();
                let [few, many] = [&choice.few, &choice.many].map(|parts| {
                    let text = calls_of(parts, chain, params, call, limit)?;
                    Ok::<_, Error>(text.lines().map(|line| format!("  {line}\n")).collect::<String>())
                });
                text.push_str(&format!(
                    "# {}: {}\nif few {}{counters}; then\n{}else\n{}fi\n",
                    choice.name,
                    choice.why,
                    limit(choice.option),
                    few?,
                    many?
                ));
            }
        }
    }
    Ok(text)
}

/// Steps in rounds are a loop.
fn rounds(repeat: &Repeat, call: &impl Fn(&Step, &Names) -> Result<String>) -> Result<String> {
    let Repeat { name, why, to, until_zero, .. } = repeat;
    let from = repeat.from.join(" ");
    let mut text =
        format!("# {name}: {why}\nfrom=\"{from}\" round=0\nuntil made {to}; do round=$((round + 1))\n");
    for (number, step) in repeat.steps.iter().enumerate() {
        for line in call(step, &Names::in_round(step, repeat, "$round", &["$from".to_owned()]))?.lines() {
            text.push_str(&format!("  {line}\n"));
        }
        if number == 0 {
            text.push_str(&format!(
                "    until_zero {until_zero} {} {to}\n  ! made {to} || break\n",
                step.output
            ));
        }
    }
    text.push_str(&format!("  from={}-$round\ndone\n", repeat.again()));
    Ok(text)
}

/// A step's call: its name and why it is there, then what is run, with the numbers that its declaration gives.
fn call(
    step: &Step,
    names: &Names,
    chain: (&Params, &[Part]),
    settings: Vec<(&'static str, String)>,
) -> Result<String> {
    let (map, reduce) = step.stages()?;
    let Names { step: name, inputs, output } = names;
    let inputs = inputs.join(" ");
    let mapper: Vec<_> = map.iter().map(|entry| command(entry, step, chain)).collect();
    let mapper = if mapper.is_empty() { "cat".to_owned() } else { mapper.join(" --then ") };
    let before: String = settings.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    let call = match (reduce, step.tasks) {
        (Some(reduce), _) => {
            let Keys { partition, sort } = reduce.input.keys.unwrap_or(Keys { partition: 0, sort: 0 });
            let reducer = command(reduce, step, chain);
            format!("map_reduce {partition} {sort} \"{inputs}\" {output} {mapper} -- {reducer}")
        }
        (None, Tasks::EachFile(option, data)) => {
            format!("each {data} {option} \"{inputs}\" {output} {mapper}")
        }
        (None, _) => format!("map \"{inputs}\" {output} {mapper}"),
    };
    Ok(format!("step {name} {}\n  {before}{call}\n", quote(&step.why)))
}

/// How many tasks a step has, where that is the step's own.
pub fn tasks(step: &Step, params: &Params) -> Option<(&'static str, String)> {
    match step.tasks {
        Tasks::Slices(plan) => Some(("slices", plan.to_owned())),
        Tasks::One if step.reduce.is_some() => Some(("reducers", "1".to_owned())),
        Tasks::Option(option) => {
            let of = if step.reduce.is_some() { "reducers" } else { "mappers" };
            Some((of, params.get(option)?.to_owned()))
        }
        _ => None,
    }
}

/// A stage's command line: the options given, and the side files that it knows.
fn command(entry: &Entry, step: &Step, (params, chain): (&Params, &[Part])) -> String {
    let mut words = vec![entry.decl.name.to_owned()];
    words.extend(step.params(params).args_for(entry).iter().map(|word| quote(word)));
    for (option, data) in &step.side {
        if entry.has_side(option) {
            // A side file is the one part of a data set that one task wrote, or the folder of all parts.
            words.push(match *option {
                "clusters" | "queries" => format!("--{option} \"$WORK/{data}\""),
                _ => format!("--{option} \"$(only_part {data})\""),
            });
        }
    }
    if let Some(counted) = step.counted.filter(|counted| entry.knows(counted.option))
        && let Some(step) = counted.step(chain)
    {
        words.push(format!("--{} \"$(counted {} {step})\"", counted.option, counted.counter));
    }
    words.join(" ")
}

/// The value of an option that bounds a counter. Numbers of bash have a sign.
pub fn limit(option: &str, params: &Params) -> u64 {
    params.number(option).min(i64::MAX as u64)
}

/// The exit code of a script that has left everything as it was.
const REFUSED: i32 = 2;
/// How often the driver looks where the script is.
const POLL: Duration = Duration::from_millis(20);

/// The script that is running: the number of its process and of the group of all that it starts, or 0.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// Ends the script that is running, if one is, with all that it has started.
pub fn kill() {
    if let Some(group) = rustix::process::Pid::from_raw(GROUP.load(Ordering::SeqCst)) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// A process that outlives this one, and ends a group of processes when this one is gone, however it went: it reads from a pipe
/// that ends with this process.
struct Watcher(Child);

impl Watcher {
    /// Watches over a group; a folder is removed after it.
    fn start(group: u32, remove: Option<&Path>) -> Result<Self> {
        let exe = std::env::current_exe().map_err(Error::io("find", "this program"))?;
        let mut command = Command::new(&exe);
        command.args(["job", "watch", "--group", &group.to_string()]);
        if let Some(folder) = remove {
            command.arg("--remove").arg(folder);
        }
        // In a group of its own, out of reach of a terminal's signals.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().map_err(Error::io("start", &exe)).map(Self)
    }

    /// The group has ended by itself.
    fn dismiss(mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            let _ = pipe.write_all(b"ended\n");
        }
        // It has nothing left to do.
        let _ = self.0.wait();
    }
}

/// Runs a script to its end. It leads the group of its processes, ends when its driver does, says nothing but errors,
/// and leaves in the file `_now` of a folder which step it is at. `remove` is a folder that nobody needs when the driver is gone.
pub fn run(
    mut command: Command,
    script: &Path,
    folder: &Path,
    remove: Option<&Path>,
    progress: &Progress,
) -> Result<()> {
    command.env("DRIVEN", "1").env("QUIET", "1").process_group(0);
    let program = command.get_program().to_owned();
    let mut child = command.spawn().map_err(Error::io("start (is it installed there?)", program))?;
    GROUP.store(child.id().try_into().unwrap_or(0), Ordering::SeqCst);
    let watcher = Watcher::start(child.id(), remove)?;
    let now = folder.join("_now");
    let status = loop {
        if let Some(status) = child.try_wait().map_err(Error::io("wait for", script))? {
            break status;
        }
        // Between two steps there may be nothing to read.
        let step = fs::read_to_string(&now).unwrap_or_default();
        let step = step.trim();
        if !step.is_empty() && progress.now().is_none_or(|(phase, _)| phase.step != step) {
            progress.start(step, "working", Unit::Rows, 0);
        }
        std::thread::sleep(POLL);
    };
    GROUP.store(0, Ordering::SeqCst);
    watcher.dismiss();
    if status.code() == Some(REFUSED) {
        return Err(Error::Usage("the chain was not started; the reason is above".to_owned()));
    }
    if !status.success() {
        return Err(Error::Failed(format!("the chain failed ({status}); its messages are above")));
    }
    Ok(())
}

/// Counters in a file, a name and a number in each line.
pub fn read_counters(path: &Path) -> Result<Counters> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let number = |line: &str| {
        let (name, value) = line.split_once('\t')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    Ok(text.lines().filter_map(number).collect())
}
