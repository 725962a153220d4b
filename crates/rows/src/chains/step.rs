//! What a chain is made of: steps over named data sets, and steps that are run in rounds.

use crate::params::Params;
use crate::stage::Entry;
use crate::stages;
use crate::stages::keep_field::KeepField;
use std::borrow::Cow;
use twinsplit_io::error::Result;

/// A data set between steps.
pub type Data = &'static str;

/// How many tasks a step has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// As many as the engine likes.
    Many,
    /// One, which sees everything.
    One,
    /// As many mappers as the option says, or reducers where there are some.
    Option(&'static str),
    /// As many reducers as there are slices in the plan that is this data set: each makes one slice
    /// ([`twinsplit_core::hash::slice_key`]).
    Slices(Data),
    /// One map-only job for each part of a data set that holds something, which is the side file that the option names.
    EachFile(&'static str, Data),
}

/// A step of a chain.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name: that of its mapper's first stage, or of its reducer where it has none, unless another step has it.
    pub name: &'static str,
    /// What it does, and why its rows are sorted, in a sentence, or in one for each step that was joined to it.
    pub why: Cow<'static, str>,
    /// The mapper: stages that each task runs one after another; without one rows go to the shuffle as they are.
    pub map: Vec<&'static str>,
    /// The reducer; without one the step is map only.
    pub reduce: Option<&'static str>,
    /// What it reads.
    pub inputs: Vec<Data>,
    /// What it writes.
    pub output: Data,
    /// Side files: the option that names the file, and the data set that is the file.
    pub side: Vec<(&'static str, Data)>,
    /// Options that the step sets for its stages: the option, and its value.
    pub options: Vec<(&'static str, &'static str)>,
    /// An option whose value is what the step that has made a data set counted.
    pub counted: Option<&'static CountedOption>,
    /// How many tasks.
    pub tasks: Tasks,
    /// Counters that must not exceed an option's value when the step has ended, and what to do then.
    pub guards: Vec<Guard>,
    /// A field that at least one document must have when the step has ended.
    pub field: Option<KeepField>,
}

impl Step {
    /// A step without reducers.
    pub fn map(name: &'static str, why: &'static str, inputs: &[Data], output: Data) -> Self {
        Self {
            name,
            why: why.into(),
            map: vec![name],
            reduce: None,
            inputs: inputs.to_vec(),
            output,
            side: Vec::new(),
            options: Vec::new(),
            counted: None,
            tasks: Tasks::Many,
            guards: Vec::new(),
            field: None,
        }
    }

    /// A step with mappers and reducers.
    pub fn map_reduce(
        name: &'static str,
        reduce: &'static str,
        why: &'static str,
        inputs: &[Data],
        output: Data,
    ) -> Self {
        Self { reduce: Some(reduce), ..Self::map(name, why, inputs, output) }
    }

    /// A step whose rows go to the shuffle as they are.
    pub fn reduce(name: &'static str, why: &'static str, inputs: &[Data], output: Data) -> Self {
        Self { map: Vec::new(), reduce: Some(name), ..Self::map(name, why, inputs, output) }
    }

    /// The step as one task.
    pub fn one_task(self) -> Self {
        Self { tasks: Tasks::One, ..self }
    }

    /// The step with a bound on what it counts.
    pub fn guarded(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    /// The step with a side file that an earlier one made.
    pub fn beside(self, option: &'static str, data: Data) -> Self {
        Self { side: vec![(option, data)], ..self }
    }

    /// The step with an option of its own.
    pub fn setting(mut self, option: (&'static str, &'static str)) -> Self {
        self.options.push(option);
        self
    }

    /// The step with an option whose value is a counter of the step that has made a data set.
    pub fn counting(self, counted: &'static CountedOption) -> Self {
        Self { counted: Some(counted), ..self }
    }

    /// The options of a run with those of the step, and without those that name its side files: what the chain has made takes the
    /// place of a file of the user.
    pub fn params(&self, params: &Params) -> Params {
        let of_each = match self.tasks {
            Tasks::EachFile(option, _) => Some(option),
            _ => None,
        };
        let files = self.side.iter().map(|(option, _)| *option).chain(of_each);
        let others = files.fold(params.clone(), Params::without);
        self.options.iter().fold(others, |params, (name, value)| params.with(name, *value))
    }

    /// The stages of its mapper, and its reducer.
    pub fn stages(&self) -> Result<(Vec<&'static Entry>, Option<&'static Entry>)> {
        let map = self.map.iter().map(|name| stages::get(name)).collect::<Result<_>>()?;
        Ok((map, self.reduce.map(stages::get).transpose()?))
    }

    /// The names of all its stages.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.map.iter().copied().chain(self.reduce)
    }
}

/// See [`Step::counted`].
#[derive(Clone, Copy, Debug)]
pub struct CountedOption {
    /// The option.
    pub option: &'static str,
    /// The counter.
    pub counter: &'static str,
    /// What the step that counts makes.
    pub data: Data,
}

impl CountedOption {
    /// The name of the step that counts, among the parts of the chain; nothing where none of them makes the data set.
    pub fn step(&self, parts: &[Part]) -> Option<&'static str> {
        parts.iter().flat_map(Part::steps).find(|step| step.output == self.data).map(|step| step.name)
    }
}

/// See [`Step::guards`].
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// The counter.
    pub counter: &'static str,
    /// The option.
    pub option: &'static str,
    /// What the counter counts and what to do when there is too much of it.
    pub advice: &'static str,
}

/// A part of a chain.
#[derive(Clone, Debug)]
pub enum Part {
    /// A step, run once.
    Step(Step),
    /// Steps that are run in rounds.
    Repeat(Repeat),
    /// One of two ways, by what was counted before.
    Choice(Choice),
}

impl Part {
    /// The part's steps, those of rounds once and those of a choice of both ways.
    pub fn steps(&self) -> Vec<&Step> {
        match self {
            Part::Step(step) => vec![step],
            Part::Repeat(repeat) => repeat.steps.iter().collect(),
            Part::Choice(choice) => choice.few.iter().chain(&choice.many).flat_map(Part::steps).collect(),
        }
    }
}

/// Two ways to the same data sets. Which one is taken is known when the steps before have counted.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What is made.
    pub name: &'static str,
    /// What is counted and why it decides, in a sentence.
    pub why: &'static str,
    /// What is added up: counters of the steps that have made these data sets.
    pub counts: Vec<(Data, Counted)>,
    /// The option that says how much is few.
    pub option: &'static str,
    /// What is run where the sum is at most that.
    pub few: Vec<Part>,
    /// What is run where it is more.
    pub many: Vec<Part>,
}

/// What a [`Choice`] asks a step for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The rows that it wrote.
    Rows,
    /// A counter of its own.
    Counter(&'static str),
}

impl Choice {
    /// The counters that are added up, each with the name of its step among the parts of the chain.
    pub fn counters(&self, parts: &[Part]) -> Vec<(&'static str, &'static str)> {
        let steps: Vec<&Step> = parts.iter().flat_map(Part::steps).collect();
        let counter = |(data, counted): &(Data, Counted)| {
            let step = steps.iter().find(|step| step.output == *data)?;
            let name = match counted {
                Counted::Counter(name) => name,
                Counted::Rows if step.reduce.is_some() => "reduce_records_out",
                Counted::Rows => "map_records_out",
            };
            Some((name, step.name))
        };
        self.counts.iter().filter_map(counter).collect()
    }
}

/// Steps that are run in rounds until the first of them counts 0 of something: there the last round ends. In round R,
/// counted from 1, a step is named `NAME-R` and a data set that it makes `DATA-R`.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// What the rounds make.
    pub name: &'static str,
    /// What happens in a round, and why they end, in a sentence or two.
    pub why: &'static str,
    /// What the first step reads in the first round; later it reads [`again`](Self::again).
    pub from: Vec<Data>,
    /// The steps of a round.
    pub steps: Vec<Step>,
    /// What the rounds are for: when they are over, this is the name of what the first step wrote.
    pub to: Data,
    /// The first step's counter.
    pub until_zero: &'static str,
}

impl Repeat {
    /// What the first step reads in later rounds: what the last step of the round before wrote.
    pub fn again(&self) -> Data {
        self.steps.last().map_or(self.to, |last| last.output)
    }

    /// Whether a data set is made in each round.
    pub fn makes(&self, data: Data) -> bool {
        self.steps.iter().any(|step| step.output == data)
    }
}

/// What a step and its data sets are called where it is run: in rounds names end in the round's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The step.
    pub step: String,
    /// What it reads.
    pub inputs: Vec<String>,
    /// What it writes.
    pub output: String,
}

impl Names {
    /// Those of a step that is run once.
    pub fn of(step: &Step) -> Self {
        Self {
            step: step.name.to_owned(),
            inputs: step.inputs.iter().map(|data| (*data).to_owned()).collect(),
            output: step.output.to_owned(),
        }
    }

    /// Those of a step in a round; `from` is what the round's first step reads.
    pub fn in_round(step: &Step, repeat: &Repeat, round: &str, from: &[String]) -> Self {
        let of_round = |data: Data| match repeat.makes(data) {
            true => format!("{data}-{round}"),
            false => data.to_owned(),
        };
        Self {
            step: format!("{}-{round}", step.name),
            inputs: match step.inputs == repeat.from {
                true => from.to_vec(),
                false => step.inputs.iter().map(|data| of_round(data)).collect(),
            },
            output: of_round(step.output),
        }
    }
}
