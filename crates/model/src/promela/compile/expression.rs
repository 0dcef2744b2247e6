//! Compilation of expressions and variables.

use super::{AskedLabel, AskedVariable, Compiled, Compiler};
use crate::promela::layout::comparison;
use crate::promela::program::{
    Cell, Code, Field, Index, Node, Place, Reception, Scope, Variable, VariableKind,
};
use crate::promela::syntax::{
    Binary, Expression, ExpressionKind, Name, Pattern, Receive, Reference,
};
use crate::{Fault, Span};

impl Compiler {
    /// Compiles a scalar expression.
    pub(super) fn expression(&mut self, expression: &Expression) -> Compiled<Code> {
        // Queries of channels and processes must be free of side effects everywhere.
        let may_run = self.may_run;
        self.may_run &= matches!(
            expression.kind,
            ExpressionKind::Reference(_)
                | ExpressionKind::Unary(..)
                | ExpressionKind::Binary(..)
                | ExpressionKind::Conditional(..)
                | ExpressionKind::Run(_)
        );
        let code = self.part(expression);
        self.may_run = may_run;
        code
    }

    fn part(&mut self, expression: &Expression) -> Compiled<Code> {
        let span = expression.span;
        let node = match &expression.kind {
            ExpressionKind::Number(number) => Node::Number(*number),
            ExpressionKind::Reference(reference) => return self.value_of(reference),
            ExpressionKind::Unary(operator, part) => Node::Unary(*operator, self.expression(part)?),
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.expression(left)?, self.expression(right)?);
                self.binary(*operator, left, right)
            }
            ExpressionKind::Conditional(condition, yes, no) => {
                let condition = self.expression(condition)?;
                let (yes, no) = (self.expression(yes)?, self.expression(no)?);
                let mut named = [yes, no].into_iter();
                let set = named.find_map(|code| self.program.named.get(&code).copied());
                let code = self.code(Node::Conditional(condition, yes, no), span);
                self.name_values(code, set);
                return Ok(code);
            }
            ExpressionKind::Temporal(..) => {
                let message = "this operator is allowed only in an `ltl` block";
                return self.refuse("temporal", message, span);
            }
            ExpressionKind::Run(run) => self.run_in_value(run, span)?,
            ExpressionKind::Probe(probe, channel) => {
                let channel = self.channel(channel)?;
                Node::Probe(*probe, channel)
            }
            ExpressionKind::Poll(receive) => Node::Poll(Box::new(self.reception(receive)?)),
            ExpressionKind::Enabled(process) => Node::Enabled(self.expression(process)?),
            ExpressionKind::StateOf(process) => Node::StateOf(self.expression(process)?),
            ExpressionKind::Priority(process) => Node::PriorityOf(self.expression(process)?),
            ExpressionKind::AtLabel {
                process,
                index,
                label,
            } => self.at_label(process, index.as_deref(), label)?,
            ExpressionKind::Remote {
                process,
                index,
                variable,
            } => return self.remote(process, index.as_deref(), variable, span),
            ExpressionKind::Timeout => Node::Timeout,
            ExpressionKind::NonProgress => Node::NonProgress,
        };
        Ok(self.code(node, span))
    }

    /// Compiles a binary operator; a comparison of a byte with a number is a single read
    /// of the state.
    fn binary(&self, operator: Binary, left: Code, right: Code) -> Node {
        let nodes = (self.program.node(left), self.program.node(right));
        let comparison = comparison(operator, nodes.0, nodes.1);
        comparison.unwrap_or(Node::Binary(operator, left, right))
    }

    fn at_label(
        &mut self,
        process: &Name,
        index: Option<&Expression>,
        label: &Name,
    ) -> Compiled<Node> {
        let kind = self.kind_of(process)?;
        let index = index.map(|index| self.expression(index)).transpose()?;
        self.asked_labels.push(AskedLabel {
            kind,
            name: label.clone(),
        });
        self.program.labels.push(None);
        let label = self.program.labels.len() as u32 - 1;
        Ok(Node::AtLabel { kind, index, label })
    }

    fn remote(
        &mut self,
        process: &Name,
        index: Option<&Expression>,
        variable: &Reference,
        span: Span,
    ) -> Compiled<Code> {
        let kind = self.kind_of(process)?;
        let index = index.map(|index| self.expression(index)).transpose()?;
        let cell = Cell {
            offset: 0,
            scalar: super::declaration::BYTE,
        };
        let place = Box::new(Place {
            scope: Scope::Local,
            cell,
            indices: Box::default(),
            is_discard: false,
        });
        let node = self.code(Node::Remote { kind, index, place }, span);
        self.asked_variables.push(AskedVariable {
            node,
            kind,
            reference: variable.clone(),
        });
        Ok(node)
    }

    /// Compiles a variable or a symbolic name.
    fn value_of(&mut self, reference: &Reference) -> Compiled<Code> {
        let span = reference.span;
        if let [(name, None)] = &reference.parts[..] {
            let node = match &*name.text {
                "_pid" => Some(Node::Itself),
                "_nr_pr" => Some(Node::Processes),
                "_last" => Some(Node::Last),
                "_priority" => Some(Node::OwnPriority),
                "_" => {
                    let message = "`_` has no value: it discards what is assigned to it";
                    return self.refuse("underscore", message, span);
                }
                _ => None,
            };
            if let Some(node) = node {
                return Ok(self.code(node, span));
            }
            if self.lookup(&name.text).is_none()
                && let Some(mtype) = self.mtypes.get(&name.text).copied()
            {
                let code = self.code(Node::Number(mtype.number), span);
                self.name_values(code, Some(mtype.set));
                return Ok(code);
            }
        }
        let place = self.place(reference)?;
        let mtype = place.cell.scalar.mtype;
        let node = match (place.indices.is_empty(), place.scope) {
            (true, Scope::Global) => Node::Global(place.cell),
            (true, Scope::Local) => Node::Local(place.cell),
            (false, _) => Node::Indexed(Box::new(place)),
        };
        let code = self.code(node, span);
        self.name_values(code, mtype);
        Ok(code)
    }

    /// Returns the place of a scalar.
    pub(super) fn place(&mut self, reference: &Reference) -> Compiled<Place> {
        let (scope, variable) = self.found(reference)?;
        self.place_in(scope, &variable, reference)
    }

    fn found(&mut self, reference: &Reference) -> Compiled<(Scope, Variable)> {
        let Some((name, _)) = reference.parts.first() else {
            return self.refuse("syntax", "expected a variable", reference.span);
        };
        if let Some((scope, variable)) = self.lookup(&name.text) {
            return Ok((scope, variable.clone()));
        }
        let message = if self.kinds.contains_key(&name.text) {
            format!("`{}` is a process, not a variable", name.text)
        } else {
            format!("`{}` is not declared", name.text)
        };
        let mut fault = Fault::new("unknown-name", message, Some(name.span));
        fault.help = self.suggestion(&name.text);
        self.faults.push(fault);
        Err(super::Reported)
    }

    /// Returns the place of a scalar within a variable.
    pub(super) fn place_in(
        &mut self,
        scope: Scope,
        variable: &Variable,
        reference: &Reference,
    ) -> Compiled<Place> {
        let (variable, indices) = self.walk(variable, reference)?;
        match variable.kind {
            VariableKind::Scalar(scalar) => Ok(Place {
                scope,
                cell: Cell {
                    offset: variable.offset,
                    scalar,
                },
                indices: indices.into(),
                is_discard: false,
            }),
            VariableKind::Record(_) => {
                let message = "this is a record: write one of its fields";
                self.refuse("type", message, reference.span)
            }
        }
    }

    /// Resolves the fields and indices of a reference.
    fn walk(
        &mut self,
        variable: &Variable,
        reference: &Reference,
    ) -> Compiled<(Variable, Vec<Index>)> {
        let mut here = variable.clone();
        let mut indices = Vec::new();
        for (number, (name, index)) in reference.parts.iter().enumerate() {
            if number > 0 {
                here = self.field(&here, name)?;
            }
            let stride = self.program.size_of(here.kind);
            match (index, here.length) {
                (Some(index), Some(length)) => {
                    self.index(&mut here, index, length, stride, &mut indices)?
                }
                (Some(index), None) => {
                    // A variable without a length has one element.
                    self.index(&mut here, index, 1, stride, &mut indices)?;
                }
                (None, Some(_)) => {
                    let message = format!("`{}` is an array: write an index", name.text);
                    return self.refuse("missing-index", message, name.span);
                }
                (None, None) => {}
            }
            here.length = None;
        }
        Ok((here, indices))
    }

    fn field(&mut self, of: &Variable, name: &Name) -> Compiled<Variable> {
        let VariableKind::Record(record) = of.kind else {
            let message = format!("there is no field `{}`: this is not a record", name.text);
            return self.refuse("unknown-field", message, name.span);
        };
        let record = self.program.records.get(record as usize);
        let fields = record.map_or(&[][..], |record| &record.fields);
        match fields.iter().find(|(field, _)| **field == *name.text) {
            Some((_, field)) => Ok(Variable {
                offset: of.offset + field.offset,
                ..field.clone()
            }),
            None => {
                let names = fields.iter().map(|(field, _)| &**field);
                let help = juror_language::suggest(&name.text, names);
                let message = format!("this record has no field `{}`", name.text);
                let mut fault = Fault::new("unknown-field", message, Some(name.span));
                fault.help = help.map(|name| format!("did you mean `{name}`?"));
                self.faults.push(fault);
                Err(super::Reported)
            }
        }
    }

    fn index(
        &mut self,
        here: &mut Variable,
        index: &Expression,
        length: u32,
        stride: u32,
        indices: &mut Vec<Index>,
    ) -> Compiled<()> {
        let value = self.expression(index)?;
        if let Node::Number(number) = self.program.node(value) {
            let number = *number;
            if !(0..i64::from(length)).contains(&i64::from(number)) {
                let message = format!("this array has {length} elements, from 0");
                return self.refuse("index", message, index.span);
            }
            here.offset += number as u32 * stride;
            return Ok(());
        }
        indices.push(Index {
            value,
            length,
            stride,
        });
        Ok(())
    }

    /// Compiles an expression of a channel.
    pub(super) fn channel(&mut self, reference: &Reference) -> Compiled<Code> {
        let place = self.place(reference)?;
        if !place.cell.scalar.is_channel && place.cell.scalar.greatest < 255 {
            let message = "this is not a channel";
            return self.refuse("type", message, reference.span);
        }
        self.value_of(reference)
    }

    /// Compiles the values of a message; records are flattened.
    pub(super) fn message(&mut self, values: &[Expression]) -> Compiled<Vec<Code>> {
        let mut codes = Vec::new();
        for value in values {
            let places = match &value.kind {
                ExpressionKind::Reference(reference) => self.record_places(reference)?,
                _ => None,
            };
            match places {
                Some(places) => {
                    for place in places {
                        let node = match (place.indices.is_empty(), place.scope) {
                            (true, Scope::Global) => Node::Global(place.cell),
                            (true, Scope::Local) => Node::Local(place.cell),
                            (false, _) => Node::Indexed(Box::new(place)),
                        };
                        codes.push(self.code(node, value.span));
                    }
                }
                None => codes.push(self.expression(value)?),
            }
        }
        Ok(codes)
    }

    /// Returns the places of all values of a record; `None` for other variables and for
    /// symbolic names.
    fn record_places(&mut self, reference: &Reference) -> Compiled<Option<Vec<Place>>> {
        let Some((name, _)) = reference.parts.first() else {
            return Ok(None);
        };
        let Some((scope, variable)) = self.lookup(&name.text) else {
            return Ok(None);
        };
        let variable = variable.clone();
        if !super::is_record(&variable) {
            return Ok(None);
        }
        let (inner, indices) = self.walk(&variable, reference)?;
        if !super::is_record(&inner) {
            return Ok(None);
        }
        let leaves = self.program.leaves_of("", &inner);
        let places = leaves.iter().map(|leaf| Place {
            scope,
            cell: leaf.cell,
            indices: indices.clone().into(),
            is_discard: false,
        });
        Ok(Some(places.collect()))
    }

    pub(super) fn reception(&mut self, receive: &Receive) -> Compiled<Reception> {
        let channel = self.channel(&receive.channel)?;
        let mut fields = Vec::new();
        for pattern in &receive.patterns {
            match pattern {
                Pattern::Value(value) => fields.push(Field::Equal(self.expression(value)?)),
                Pattern::Variable(reference) => self.variable_field(reference, &mut fields)?,
            }
        }
        Ok(Reception {
            channel,
            anywhere: receive.anywhere,
            keeps: receive.keeps,
            fields: fields.into(),
        })
    }

    fn variable_field(&mut self, reference: &Reference, fields: &mut Vec<Field>) -> Compiled<()> {
        if let [(name, None)] = &reference.parts[..] {
            if &*name.text == "_" {
                fields.push(Field::Into(discard()));
                return Ok(());
            }
            let is_name = self.lookup(&name.text).is_none() && self.mtypes.contains_key(&name.text);
            if is_name {
                fields.push(Field::Equal(self.value_of(reference)?));
                return Ok(());
            }
        }
        match self.record_places(reference)? {
            Some(places) => fields.extend(places.into_iter().map(Field::Into)),
            None => fields.push(Field::Into(self.place(reference)?)),
        }
        Ok(())
    }

    /// Returns the place that an assignment writes.
    pub(super) fn assigned(&mut self, reference: &Reference) -> Compiled<Place> {
        if let [(name, None)] = &reference.parts[..] {
            match &*name.text {
                "_" => return Ok(discard()),
                "_pid" | "_nr_pr" | "_last" | "np_" => {
                    let message = format!("`{}` cannot be assigned to", name.text);
                    return self.refuse("assignment", message, name.span);
                }
                _ => {}
            }
        }
        self.place(reference)
    }
}

/// Returns the place of `_`.
fn discard() -> Place {
    Place {
        scope: Scope::Global,
        cell: Cell {
            offset: 0,
            scalar: super::declaration::BYTE,
        },
        indices: Box::default(),
        is_discard: true,
    }
}
