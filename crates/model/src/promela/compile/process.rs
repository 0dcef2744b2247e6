//! Process types: parameters, bodies, and locations.

use super::{Compiled, Compiler, Frame, Reported};
use crate::promela::external::{NUMBER, Outside};
use crate::promela::graph::{ElementKind, Graph, Sequence};
use crate::promela::program::{Cell, FRAME_START, Location, Operation, ProcessType};
use crate::promela::syntax::{Initial, Process, ProcessKind};

impl Compiler {
    /// Compiles the body of a process.
    pub(super) fn process(
        &mut self,
        number: u16,
        process: &Process,
    ) -> Compiled<(Graph, Sequence)> {
        self.program.kinds.push(ProcessType {
            name: process.name.text.clone(),
            span: process.name.span,
            ..ProcessType::default()
        });
        let skip = self.instruction(Operation::Skip, process.name.span, "skip");
        let graph = Graph::new(skip);
        self.frame = Some(Frame {
            kind: number,
            scopes: vec![Default::default()],
            size: FRAME_START,
            graph,
            instances: Vec::new(),
            blocks: Vec::new(),
            block_count: 0,
            at_beginning: true,
            in_step: false,
            is_trace: matches!(process.kind, ProcessKind::Trace | ProcessKind::NoTrace),
        });
        self.parameters(number, process)?;
        if let Some(provided) = &process.provided {
            let code = self.expression(provided)?;
            self.kind_mut(number)?.provided = Some(code);
        }
        if process.kind == ProcessKind::External {
            self.outside(number, process)?;
        }
        self.graph()?.open();
        let before = self.faults.len();
        self.statements(&process.body)?;
        let end = self.instruction(Operation::End, process.end, "-end-");
        let kind = ElementKind::Stop { number: end };
        let graph = self.graph()?;
        graph.instruction(kind, &[], process.end);
        let body = graph.close(process.end);
        let Some(frame) = self.frame.take() else {
            return Err(Reported);
        };
        self.kind_mut(number)?.frame_size = frame.size;
        if self.faults.len() == before {
            Ok((frame.graph, body))
        } else {
            Err(Reported)
        }
    }

    /// Compiles a process in Rust, which stores the number of its state after its
    /// parameters.
    fn outside(&mut self, number: u16, process: &Process) -> Compiled<()> {
        let instruction = self.instruction(Operation::Skip, process.name.span, &process.name.text);
        let frame = self.frame.as_mut().ok_or(Reported)?;
        let cell = Cell {
            offset: frame.size,
            scalar: NUMBER,
        };
        frame.size += NUMBER.kept.size();
        self.kind_mut(number)?.outside = Some(Outside { cell, instruction });
        self.program.has_outside = true;
        Ok(())
    }

    fn parameters(&mut self, number: u16, process: &Process) -> Compiled<()> {
        for parameter in &process.parameters {
            if parameter.initial != Initial::Nothing || parameter.length.is_some() {
                let message = "a parameter must be a single value without an initializer";
                return self.refuse("parameter", message, parameter.name.span);
            }
            let variable = self.local(parameter)?;
            let cells: Vec<_> = self
                .program
                .leaves_of("", &variable)
                .iter()
                .map(|leaf| leaf.cell)
                .collect();
            self.kind_mut(number)?.parameters.extend(cells);
        }
        Ok(())
    }

    pub(super) fn kind_mut(&mut self, number: u16) -> Compiled<&mut ProcessType> {
        self.program.kinds.get_mut(number as usize).ok_or(Reported)
    }

    pub(super) fn graph(&mut self) -> Compiled<&mut Graph> {
        self.frame
            .as_mut()
            .map(|frame| &mut frame.graph)
            .ok_or(Reported)
    }

    /// Computes the locations of a process, when all remote references are known.
    pub(super) fn finish_process(
        &mut self,
        number: u16,
        process: &Process,
        graph: Graph,
        body: Sequence,
    ) {
        let mut graph = graph;
        for asked in self
            .asked_labels
            .iter()
            .filter(|asked| asked.kind == number)
        {
            graph.make_visible(&asked.name.text);
        }
        let (found, graph) = match graph.finish(body) {
            Ok(found) => found,
            Err(mut fault) => {
                fault.span = fault.span.or(Some(process.name.span));
                self.faults.push(fault);
                return;
            }
        };
        if found.locations.len() > usize::from(u16::MAX) {
            let message = "this process has too many statements";
            return self.fault("too-large", message, process.name.span);
        }
        for location in &found.locations {
            for transition in &location.transitions {
                let instruction = self
                    .program
                    .instructions
                    .get_mut(transition.instruction as usize);
                if let Some(instruction) = instruction
                    && let Operation::Sequence(start) = &mut instruction.operation
                    && let Some(first) = found.step_start(&graph, transition.instruction)
                {
                    *start = first;
                }
            }
        }
        let asked = self.asked_labels.iter().enumerate();
        for (index, asked) in asked.filter(|(_, asked)| asked.kind == number) {
            let Some(element) = graph.labelled(&asked.name.text) else {
                let message = format!("this process has no label `{}`", asked.name.text);
                let fault = crate::Fault::new("unknown-label", message, Some(asked.name.span));
                self.faults.push(fault);
                continue;
            };
            // A label that is never a location is never reached.
            let location = found.by_element.get(&element).copied();
            if let Some(slot) = self.program.labels.get_mut(index) {
                *slot = location;
            }
        }
        if let Some(kind) = self.program.kinds.get_mut(number as usize) {
            if kind.outside.is_some() {
                // The state in Rust takes the place of the location.
                kind.locations = vec![Location::default()];
                kind.start = 0;
                return;
            }
            kind.locations = found.locations;
            kind.start = found.start;
        }
    }
}
