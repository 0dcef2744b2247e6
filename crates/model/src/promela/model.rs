//! A PROMELA model as a [`System`].

use super::compile::compile;
use super::evaluate::View;
use super::external::{Externals, join};
use super::layout::lay_out;
use super::machine::{Machine, Micro, Scratch, Sink, Walk, participants};
use super::parse::{parse, parse_formula};
use super::preprocess::{Preprocessor, Reader, Text, hide_foreign};
use super::program::{After, Code, Leaf, Operation, Scalar};
use crate::system::{Change, Fault, Participants, Span, Step, System, Visitor};
use juror_logic::Letter;

/// Options for reading a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Predefined macros, with their definitions.
    pub definitions: Vec<(String, String)>,
    /// Whether out-of-range values are truncated, as in Spin; otherwise they are errors.
    pub wraps: bool,
    /// Additional temporal formulas to check.
    pub formulas: Vec<String>,
}

/// A model in PROMELA.
#[derive(Debug)]
pub struct Model {
    pub(super) machine: Machine,
    texts: Vec<Text>,
    /// The propositions of the current question.
    pub(super) propositions: Vec<Code>,
}

/// The errors of a text that is not a valid model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The source texts, by the numbers in the spans of the faults.
    pub texts: Vec<Text>,
    /// The errors, at least one.
    pub faults: Vec<Fault>,
}

impl Model {
    /// Reads a model; `reader` supplies included files.
    pub fn read(
        text: Text,
        reading: &Reading,
        reader: &mut Reader<'_>,
    ) -> Result<Model, Rejection> {
        Model::read_with(text, reading, &Externals::new(), reader)
    }

    /// Reads a model with processes implemented in Rust.
    pub fn read_with(
        text: Text,
        reading: &Reading,
        externals: &Externals,
        reader: &mut Reader<'_>,
    ) -> Result<Model, Rejection> {
        let mut done = Preprocessor::run(text, &reading.definitions, reader);
        let foreign = std::mem::take(&mut done.foreign);
        Model::read_preprocessed(&mut done, reading, externals).map_err(|mut rejected| {
            let faults = std::mem::take(&mut rejected.faults);
            rejected.faults = hide_foreign(faults, &foreign, &mut rejected.texts);
            rejected
        })
    }

    fn read_preprocessed(
        done: &mut Preprocessor<'_, '_>,
        reading: &Reading,
        externals: &Externals,
    ) -> Result<Model, Rejection> {
        let formulas: Vec<_> = reading
            .formulas
            .iter()
            .map(|text| done.more(text))
            .collect();
        let texts = std::mem::take(&mut done.texts);
        let tokens = std::mem::take(&mut done.tokens);
        let mut faults = std::mem::take(&mut done.faults);
        if !faults.is_empty() {
            return Err(Rejection { texts, faults });
        }
        let (written, found) = parse(tokens);
        faults.extend(found);
        if !faults.is_empty() {
            return Err(Rejection { texts, faults });
        }
        let mut asked = Vec::new();
        for (text, tokens) in reading.formulas.iter().zip(formulas) {
            let processes = written
                .processes
                .iter()
                .map(|process| process.name.text.clone());
            match parse_formula(tokens, processes) {
                Ok(formula) => asked.push((text.as_str().into(), formula)),
                Err(faults) => return Err(Rejection { texts, faults }),
            }
        }
        let compiler = compile(&written, &asked);
        if !compiler.faults.is_empty() {
            let faults = compiler.faults;
            return Err(Rejection { texts, faults });
        }
        let program = match lay_out(compiler.program, reading.wraps) {
            Ok(program) => program,
            Err(fault) => {
                let faults = vec![fault];
                return Err(Rejection { texts, faults });
            }
        };
        let outside = match join(&program, externals) {
            Ok(outside) => outside,
            Err(faults) => return Err(Rejection { texts, faults }),
        };
        let model = Model {
            machine: Machine::new(program, reading.wraps, outside),
            texts,
            propositions: Vec::new(),
        };
        match model.machine.initial() {
            Ok(_) => Ok(model),
            Err(fault) => Err(Rejection {
                texts: model.texts,
                faults: vec![fault],
            }),
        }
    }

    /// Returns the source texts, by the numbers in spans.
    pub fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// Returns the file and line of a span.
    fn place(&self, span: Span) -> Option<String> {
        let text = self.texts.get(span.source as usize)?;
        let before = text.text.get(..span.start as usize)?;
        Some(format!(
            "{}:{}",
            text.name,
            before.matches('\n').count() + 1
        ))
    }

    /// Returns the location of each process: the statements that it may execute next,
    /// with the source position of the first.
    pub fn standing(&self, state: &[u8]) -> Vec<String> {
        let Some(shape) = self.machine.shape(state) else {
            return Vec::new();
        };
        let program = &self.machine.program;
        let lines = shape.frames.iter().enumerate().map(|(number, frame)| {
            let name = program
                .kinds
                .get(frame.kind as usize)
                .map_or("", |kind| &kind.name);
            let location = self.machine.location(state, frame);
            let transitions = location.map_or(&[][..], |location| &location.transitions);
            let instructions = transitions
                .iter()
                .filter_map(|transition| program.instruction(transition));
            let texts = instructions.clone().map(|instruction| &*instruction.text);
            let texts: Vec<&str> = texts.collect();
            let place = instructions
                .filter_map(|it| self.place(it.span))
                .next()
                .map_or(String::new(), |place| format!(", {place}"));
            format!("{name} {number} at {}{place}", texts.join(" :: "))
        });
        let trace = self.machine.trace_shown(state);
        let trace = trace.map(|(name, texts)| format!("{name} at {texts}"));
        lines.chain(trace).collect()
    }

    /// Returns the display of a value.
    fn shown(&self, state: &[u8], scalar: &Scalar, value: i32) -> String {
        let program = &self.machine.program;
        if let Some(name) = program.name_of(scalar, value) {
            return name.to_string();
        }
        if scalar.is_channel
            && let Some(shape) = self.machine.shape(state)
            && shape.channel(value).is_some()
        {
            let messages = self.machine.contents(state, &shape, value);
            let at = shape.channel(value);
            let fields = at.map(|at| &self.machine.channel_type(at).fields);
            let shown = messages.iter().map(|message| {
                let cells = fields.into_iter().flatten();
                let parts: Vec<String> = message
                    .iter()
                    .zip(cells)
                    .map(|(value, cell)| {
                        if cell.scalar.is_channel {
                            format!("channel {value}")
                        } else {
                            self.shown(state, &cell.scalar, *value)
                        }
                    })
                    .collect();
                parts.join(",")
            });
            let shown: Vec<String> = shown.collect();
            return format!("[{}]", shown.join(" "));
        }
        if scalar.greatest == 1 && scalar.least == 0 {
            return value.to_string();
        }
        value.to_string()
    }

    /// Returns the changes between two states.
    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        let old = self.values(before);
        let new = self.values(after);
        new.into_iter()
            .filter(|value| !old.contains(value))
            .collect()
    }

    fn steps_of(&self, from: &[u8], path: &[Micro]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut before = from.to_vec();
        for micro in path {
            let Some(instruction) = self.machine.program.instruction(&micro.transition) else {
                continue;
            };
            let details = micro.details.as_deref();
            let after = details
                .and_then(|details| details.after.as_ref())
                .unwrap_or(&before);
            let after = after.clone();
            let changes = self.changes(&before, &after);
            let text = details.and_then(|details| details.text.as_ref());
            let text = text.unwrap_or(&instruction.text);
            if micro.takes
                && let Some(step) = steps.last_mut()
            {
                step.partner = Some(micro.process);
                step.text = format!("{} → {text}", step.text);
                step.changes.extend(changes);
            } else {
                steps.push(Step {
                    actor: Some(micro.process),
                    partner: None,
                    text: text.to_string(),
                    span: Some(instruction.span),
                    changes,
                    printed: self.printed(&before, micro, &instruction.operation),
                });
            }
            before = after;
        }
        steps
    }

    fn printed(&self, state: &[u8], micro: &Micro, operation: &Operation) -> String {
        let Some(shape) = self.machine.shape(state) else {
            return String::new();
        };
        let view = View {
            machine: &self.machine,
            state,
            shape: &shape,
            process: 0,
            base: 0,
            timeout: false,
        };
        let view = view.of(micro.process);
        let program = &self.machine.program;
        let shown = |format: &str, codes: &[Code], values: &[i32]| {
            let names = codes.iter().map(|code| program.names_of(*code));
            let values: Vec<_> = values.iter().copied().zip(names).collect();
            super::print::print(format, &values)
        };
        match operation {
            Operation::Print(format, codes) => {
                let values = codes.iter().map(|code| view.value(*code).unwrap_or(0));
                let values: Vec<i32> = values.collect();
                shown(format, codes, &values)
            }
            Operation::Running(codes, After::Print(format)) => {
                let mut after = state.to_vec();
                let values = self.machine.run_in_values(&view, codes, &mut after);
                let values = values.map_or(Vec::new(), |(values, _)| values);
                shown(format, codes, &values)
            }
            Operation::PrintName(code) => {
                let value = view.value(*code).unwrap_or(0);
                shown("\"%e\"", &[*code], &[value])
            }
            _ => String::new(),
        }
    }
}

/// Forwards states to a visitor.
struct Forward<'a, V> {
    visitor: &'a mut V,
}

impl<V: Visitor> Sink for Forward<'_, V> {
    const RECORDS_STEPS: bool = false;

    fn state(&mut self, state: &[u8], path: &[Micro]) -> bool {
        self.visitor.next(state, participants(path))
    }

    fn fault(&mut self, fault: Fault, _path: &[Micro]) -> bool {
        self.visitor.fault(fault)
    }

    fn known(&mut self) -> bool {
        self.visitor.known()
    }
}

/// Keeps the path to one of the successors.
struct StepRecorder {
    left: usize,
    path: Option<Vec<Micro>>,
}

impl StepRecorder {
    fn one(&mut self, path: &[Micro]) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.path = Some(path.to_vec()),
        }
        self.path.is_none()
    }
}

impl Sink for StepRecorder {
    const RECORDS_STEPS: bool = true;

    fn state(&mut self, _state: &[u8], path: &[Micro]) -> bool {
        self.one(path)
    }

    fn fault(&mut self, _fault: Fault, path: &[Micro]) -> bool {
        self.one(path)
    }

    fn known(&mut self) -> bool {
        true
    }
}

impl System for Model {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn initial(&self, _scratch: &mut Scratch, visitor: &mut impl Visitor) {
        match self.machine.initial() {
            Ok(state) => {
                visitor.next(&state, Participants::default());
            }
            Err(fault) => {
                visitor.fault(fault);
            }
        }
    }

    fn successors(&self, scratch: &mut Scratch, state: &[u8], visitor: &mut impl Visitor) {
        let mut sink = Forward { visitor };
        Walk::new(&self.machine, scratch, &mut sink).expand(state);
    }

    fn successors_after(
        &self,
        scratch: &mut Scratch,
        before: &[u8],
        state: &[u8],
        visitor: &mut impl Visitor,
    ) {
        let mut sink = Forward { visitor };
        Walk::new(&self.machine, scratch, &mut sink).expand_after(Some(before), state);
    }

    fn reduced(&self, scratch: &mut Scratch, state: &[u8], visitor: &mut impl Visitor) -> bool {
        let mut sink = Forward { visitor };
        Walk::new(&self.machine, scratch, &mut sink).reduce(state)
    }

    fn may_end(&self, _scratch: &mut Scratch, state: &[u8]) -> bool {
        let Some(shape) = self.machine.shape(state) else {
            return true;
        };
        let has_trace_ended = self.machine.trace_may_end(state, &shape);
        let mut frames = shape.frames.iter().enumerate();
        has_trace_ended
            && frames.all(|(process, frame)| {
                if let Some(may_end) = self.machine.outside_may_end(state, &shape, process) {
                    return may_end;
                }
                let location = self.machine.location(state, frame);
                location.is_some_and(|location| location.is_end)
            })
    }

    fn letter(&self, _scratch: &mut Scratch, state: &[u8]) -> Result<Letter, Fault> {
        let Some(shape) = self.machine.shape(state) else {
            return Ok(Letter(0));
        };
        let view = View {
            machine: &self.machine,
            state,
            shape: &shape,
            process: usize::MAX,
            base: 0,
            timeout: false,
        };
        let mut letter = 0;
        for (bit, proposition) in self.propositions.iter().enumerate() {
            let holds = view.holds(*proposition);
            let holds = holds.map_err(|trap| trap.fault(&self.machine.program))?;
            letter |= u64::from(holds) << (bit & 63);
        }
        Ok(Letter(letter))
    }

    fn steps(&self, state: &[u8], number: usize) -> Vec<Step> {
        let mut recorder = StepRecorder {
            left: number,
            path: None,
        };
        let mut scratch = Scratch::default();
        Walk::new(&self.machine, &mut scratch, &mut recorder).expand(state);
        match recorder.path {
            Some(path) => self.steps_of(state, &path),
            None => Vec::new(),
        }
    }

    fn actors(&self, state: &[u8]) -> Vec<String> {
        let Some(shape) = self.machine.shape(state) else {
            return Vec::new();
        };
        let names = shape.frames.iter().map(|frame| {
            let kind = self.machine.program.kinds.get(frame.kind as usize);
            kind.map_or_else(String::new, |kind| kind.name.to_string())
        });
        names.collect()
    }

    fn values(&self, state: &[u8]) -> Vec<Change> {
        let Some(shape) = self.machine.shape(state) else {
            return Vec::new();
        };
        let program = &self.machine.program;
        let (mut values, mut outside) = (Vec::new(), Vec::new());
        let mut push = |name: String, base: u32, leaf: &Leaf| {
            let kept = || super::memory::load(state, base, &leaf.cell);
            let value = leaf.value.unwrap_or_else(kept);
            values.push(Change {
                name,
                value: self.shown(state, &leaf.cell.scalar, value),
            });
        };
        for leaf in &program.global_leaves {
            push(leaf.name.to_string(), 0, leaf);
        }
        for (number, frame) in shape.frames.iter().enumerate() {
            let Some(kind) = program.kinds.get(frame.kind as usize) else {
                continue;
            };
            for leaf in &kind.leaves {
                push(
                    format!("{}({number}):{}", kind.name, leaf.name),
                    frame.base,
                    leaf,
                );
            }
            outside.extend(
                self.machine
                    .outside_shown(state, &shape, number)
                    .map(|value| Change {
                        name: format!("{}({number})", kind.name),
                        value,
                    }),
            );
        }
        let trace = self.machine.trace_shown(state);
        values.extend(outside);
        values.extend(trace.map(|(name, value)| Change { name, value }));
        values
    }
}
