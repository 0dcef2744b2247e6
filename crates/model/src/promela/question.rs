//! Questions about the infinite runs of a model (liveness).

use super::model::Model;
use super::program::{Code, Operation, Program};
use crate::automaton::{Automaton, Edge};
use crate::system::Fault;
use juror_logic::{Formula, LogicError};

/// A question about the infinite runs of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Do all runs satisfy the formula of this name?
    Formula(String),
    /// Does the never claim never match?
    Claim,
    /// Does no run visit accept labels infinitely often?
    Acceptance,
    /// Does every run visit progress labels infinitely often?
    Progress,
}

impl Model {
    /// Returns the formulas of the model: names and texts.
    pub fn formulas(&self) -> impl Iterator<Item = (&str, &str)> {
        let requirements = self.machine.program.requirements.iter();
        requirements.map(|requirement| (&*requirement.name, &*requirement.text))
    }

    /// Returns whether the model has a never claim.
    pub fn has_claim(&self) -> bool {
        self.machine.program.claim.is_some()
    }

    /// Checks that partial-order reduction may be used for a question: that its answer is
    /// stutter-invariant.
    ///
    /// # Errors
    /// The reason that it may not.
    pub fn may_reduce(&self, question: &Question) -> Result<(), Fault> {
        let Question::Formula(name) = question else {
            let message = "claims and labels may depend on the number of steps";
            return Err(Fault::new("reduction", message, None)
                .help("search without --reduce, or write a formula without next"));
        };
        let requirements = self.machine.program.requirements.iter();
        let mut named = requirements.filter(|requirement| *requirement.name == **name);
        let operators = named
            .next()
            .map_or(Vec::new(), |it| it.formula.step_operators());
        match operators.first() {
            None => Ok(()),
            Some(operator) => {
                let message = format!("`{}` depends on the number of steps", operator.name());
                Err(Fault::new("reduction", message, None).help("search without --reduce"))
            }
        }
    }

    /// Prepares a question: returns the automaton of the runs that would be errors. From
    /// then on the letters of states refer to this question.
    pub fn ask(&mut self, question: &Question) -> Result<Automaton, Fault> {
        let program = &self.machine.program;
        let (automaton, propositions) = match question {
            Question::Formula(name) => {
                let found = program
                    .requirements
                    .iter()
                    .find(|requirement| *requirement.name == **name);
                let Some(found) = found else {
                    let message = format!("the model has no formula `{name}`");
                    return Err(Fault::new("unknown-formula", message, None));
                };
                let automaton = Automaton::violating(&found.formula).map_err(refused)?;
                (automaton, found.propositions.clone())
            }
            Question::Claim => claim(program)?,
            Question::Acceptance => {
                let formula = Formula::proposition(0).eventually().always().negation();
                let automaton = Automaton::violating(&formula).map_err(refused)?;
                (automaton, program.accepting.into_iter().collect())
            }
            Question::Progress => {
                let formula = Formula::proposition(0).negation().eventually().always();
                let automaton = Automaton::violating(&formula).map_err(refused)?;
                (automaton, program.non_progress.into_iter().collect())
            }
        };
        self.propositions = propositions;
        Ok(automaton)
    }
}

fn refused(error: LogicError) -> Fault {
    Fault::new("formula", error.to_string(), None)
}

/// Converts the never claim to an automaton.
fn claim(program: &Program) -> Result<(Automaton, Vec<Code>), Fault> {
    let kind = program
        .claim
        .and_then(|kind| program.kinds.get(kind as usize));
    let Some(kind) = kind else {
        return Err(Fault::new("claim", "the model has no never claim", None));
    };
    let mut automaton = Automaton {
        nodes: vec![Vec::new(); kind.locations.len() + 1],
        complete: None,
        all: 1,
    };
    let mut propositions: Vec<Code> = Vec::new();
    let failed = kind.locations.len() as u32;
    // Runs start in node 0, so the initial location of the claim is swapped with it.
    let swapped = |location: u32| match location {
        0 => kind.start,
        other if other == kind.start => 0,
        other => other,
    };
    for (number, location) in kind.locations.iter().enumerate() {
        let node = swapped(number as u32);
        let accepts = u128::from(location.is_accept);
        let mut seen = 0_u64;
        let mut edges = Vec::new();
        for transition in &location.transitions {
            let Some(instruction) = program.instruction(transition) else {
                continue;
            };
            let edge = Edge {
                required: 0,
                forbidden: 0,
                to: swapped(transition.to),
                accepts,
            };
            match &instruction.operation {
                Operation::End => automaton.complete = Some(node),
                Operation::Else => edges.push(Edge {
                    forbidden: seen,
                    ..edge
                }),
                Operation::Condition(code) => {
                    let bit = bit_of(program, &mut propositions, *code)?;
                    seen |= bit;
                    edges.push(Edge {
                        required: bit,
                        ..edge
                    });
                }
                Operation::Assert(code) => {
                    let bit = bit_of(program, &mut propositions, *code)?;
                    edges.push(Edge {
                        required: bit,
                        ..edge
                    });
                    edges.push(Edge {
                        forbidden: bit,
                        to: failed,
                        ..edge
                    });
                }
                _ => edges.push(edge),
            }
        }
        if let Some(slot) = automaton.nodes.get_mut(node as usize) {
            *slot = edges;
        }
    }
    redirect_failures(&mut automaton, failed);
    Ok((automaton, propositions))
}

/// Redirects failed assertions of the claim to its complete node.
fn redirect_failures(automaton: &mut Automaton, failed: u32) {
    let complete = *automaton.complete.get_or_insert(failed);
    let edges = automaton.nodes.iter_mut().flatten();
    for edge in edges.filter(|edge| edge.to == failed) {
        edge.to = complete;
    }
}

fn bit_of(program: &Program, propositions: &mut Vec<Code>, code: Code) -> Result<u64, Fault> {
    let same = |known: &Code| program.node(*known) == program.node(code);
    let index = propositions
        .iter()
        .position(same)
        .unwrap_or(propositions.len());
    if index == propositions.len() {
        propositions.push(code);
    }
    if index > 63 {
        let span = Some(program.span_of(code));
        return Err(Fault::new(
            "too-large",
            "the claim has more than 64 different conditions",
            span,
        ));
    }
    Ok(1 << index)
}
