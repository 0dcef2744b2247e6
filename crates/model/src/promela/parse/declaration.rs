//! Parser of declarations: variables, processes, types, inlines, formulas.

use super::{Inline, Kind, Parsed, Parser};
use crate::Span;
use crate::promela::syntax::{
    Initial, Name, Process, ProcessKind, Record, Requirement, Statement, TypeName, Variable,
};

/// Keywords that start a declaration.
const BEGINNINGS: &[&str] = &[
    "active",
    "extern",
    "proctype",
    "d_proctype",
    "init",
    "never",
    "ltl",
    "trace",
    "notrace",
    "typedef",
    "inline",
    "mtype",
    "chan",
    "bit",
    "bool",
    "byte",
    "int",
    "short",
    "unsigned",
    "pid",
    "hidden",
    "show",
    "local",
];

impl Parser {
    /// Parses a model.
    pub(super) fn model(&mut self) {
        while self.peek().is_some() {
            let start = self.position;
            if self.unit().is_err() {
                self.position = self.position.max(start + 1);
                self.depth = 0;
                self.parentheses = 0;
                self.temporal = false;
                self.operators = 0;
                self.expressions = 0;
                self.recover();
            }
        }
    }

    /// Error recovery: skips to the next declaration at the start of a line.
    fn recover(&mut self) {
        while let Some(token) = self.peek() {
            if token.begins_line && BEGINNINGS.iter().any(|word| token.is(word)) {
                return;
            }
            self.position += 1;
        }
    }

    fn unit(&mut self) -> Parsed<()> {
        let Some(token) = self.peek() else {
            return Ok(());
        };
        let (word, span) = (token.to_string(), token.span);
        match &*word {
            ";" | "->" => self.position += 1,
            "active" | "proctype" | "d_proctype" => self.process(ProcessKind::Ordinary)?,
            "extern" if self.is_at(1, "proctype") || self.is_at(1, "active") => {
                self.position += 1;
                self.process(ProcessKind::External)?;
            }
            "init" => self.special(ProcessKind::Initial)?,
            "never" => self.special(ProcessKind::Never)?,
            "trace" => self.special(ProcessKind::Trace)?,
            "notrace" => self.special(ProcessKind::NoTrace)?,
            "ltl" => self.requirement()?,
            "typedef" => self.record()?,
            "inline" => self.inline()?,
            "mtype" if self.is_names_of_messages() => self.message_names()?,
            "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track" => {
                return self.refuse_c(span);
            }
            _ => match self.declaration()? {
                Some(variables) => self.written.variables.extend(variables),
                None => return self.unexpected("a declaration"),
            },
        }
        Ok(())
    }

    pub(super) fn refuse_c<T>(&mut self, span: Span) -> Parsed<T> {
        let message = "embedded C code is not supported";
        self.faults.push(
            crate::Fault::new("embedded-c", message, Some(span)).help(
                "write it in PROMELA: the effects of C code can be neither undone nor compared",
            ),
        );
        Err(super::Reported)
    }

    fn process(&mut self, kind: ProcessKind) -> Parsed<()> {
        let mut active = None;
        if self.take("active") {
            let span = self.last_span();
            let one = crate::promela::syntax::Expression {
                kind: crate::promela::syntax::ExpressionKind::Number(1),
                span,
            };
            active = Some(one);
            if self.take("[") {
                active = Some(self.expression()?);
                self.expect("]")?;
            }
        }
        if !self.take("proctype") && !self.take("d_proctype") {
            return self.unexpected("`proctype`");
        }
        let name = self.name()?;
        let parameters = self.in_parentheses(|parser| {
            let mut parameters = Vec::new();
            while !parser.next_is(")") {
                match parser.declaration()? {
                    Some(variables) => parameters.extend(variables),
                    None => return parser.unexpected("a parameter"),
                }
                if !parser.take(";") && !parser.take(",") {
                    break;
                }
            }
            Ok(parameters)
        })?;
        let priority = self.priority()?;
        let provided = if self.take("provided") {
            Some(self.in_parentheses(Parser::expression)?)
        } else {
            None
        };
        self.body(name, kind, parameters, active, priority, provided)
    }

    pub(super) fn priority(&mut self) -> Parsed<Option<i32>> {
        if !self.take("priority") {
            return Ok(None);
        }
        match self.peek().map(|token| &token.kind) {
            Some(&Kind::Number(number)) if (1..=255).contains(&number) => {
                self.position += 1;
                Ok(Some(number))
            }
            _ => self.unexpected("a number from 1 to 255"),
        }
    }

    fn special(&mut self, kind: ProcessKind) -> Parsed<()> {
        let span = self.span();
        let text = self.peek().map_or(String::new(), ToString::to_string);
        self.position += 1;
        let mut name = Name {
            text: text.into(),
            span,
        };
        if kind == ProcessKind::Never && !self.next_is("{") {
            name = self.name()?;
        }
        let priority = self.priority()?;
        self.body(name, kind, Vec::new(), None, priority, None)
    }

    fn body(
        &mut self,
        name: Name,
        kind: ProcessKind,
        parameters: Vec<Variable>,
        active: Option<crate::promela::syntax::Expression>,
        priority: Option<i32>,
        provided: Option<crate::promela::syntax::Expression>,
    ) -> Parsed<()> {
        // A process in Rust has no body here.
        let body = match kind {
            ProcessKind::External => Vec::new(),
            _ => self.braces()?,
        };
        let end = self.last_span();
        self.written.processes.push(Process {
            name,
            kind,
            parameters,
            active,
            priority,
            provided,
            body,
            end,
        });
        Ok(())
    }

    /// Parses statements between braces.
    pub(super) fn braces(&mut self) -> Parsed<Vec<Statement>> {
        self.expect("{")?;
        let outside = std::mem::take(&mut self.parentheses);
        let body = self.nested(|parser| parser.sequence(&["}"]));
        self.parentheses = outside;
        let body = body?;
        self.expect("}")?;
        Ok(body)
    }

    fn requirement(&mut self) -> Parsed<()> {
        self.expect("ltl")?;
        let name = if self.next_is("{") {
            None
        } else {
            Some(self.name()?)
        };
        self.expect("{")?;
        let from = self.position;
        let formula = self.formula()?;
        let text = self.text(from, self.position);
        self.take(";");
        self.expect("}")?;
        self.written.requirements.push(Requirement {
            name,
            formula,
            text,
        });
        Ok(())
    }

    fn record(&mut self) -> Parsed<()> {
        self.expect("typedef")?;
        let name = self.name()?;
        self.records.insert(name.text.clone());
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.next_is("}") {
            match self.declaration()? {
                Some(variables) => fields.extend(variables),
                None => return self.unexpected("a field"),
            }
            while self.take(";") || self.take(",") {}
        }
        self.expect("}")?;
        self.written.records.push(Record { name, fields });
        Ok(())
    }

    fn inline(&mut self) -> Parsed<()> {
        self.expect("inline")?;
        let name = self.name()?;
        let parameters = self.in_parentheses(|parser| {
            let mut parameters = Vec::new();
            while !parser.next_is(")") {
                parameters.push(parser.name()?.text);
                parser.take(",");
            }
            Ok(parameters)
        })?;
        let start = self.position;
        self.expect("{")?;
        let mut depth = 1;
        while depth > 0 {
            let Some(token) = self.peek() else {
                return self.refuse("syntax", "this inline is not closed", name.span);
            };
            depth += i32::from(token.is("{"));
            depth -= i32::from(token.is("}"));
            self.position += 1;
        }
        let body = self
            .tokens
            .get(start..self.position)
            .unwrap_or(&[])
            .to_vec();
        self.inlines.insert(name.text, Inline { parameters, body });
        Ok(())
    }

    /// Returns whether a declaration of message names is next: `mtype = {`, `mtype {`,
    /// `mtype:kind = {`.
    fn is_names_of_messages(&self) -> bool {
        let after = if self.is_at(1, ":") { 3 } else { 1 };
        self.is_at(after, "{") || self.is_at(after, "=") && self.is_at(after + 1, "{")
    }

    fn message_names(&mut self) -> Parsed<()> {
        self.expect("mtype")?;
        let kind = if self.take(":") {
            Some(self.name()?.text)
        } else {
            None
        };
        self.take("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.take("}") {
            names.push((kind.clone(), self.name()?));
            self.take(",");
        }
        // The last name of a list gets the lowest number, as in Spin.
        self.written.mtypes.extend(names.into_iter().rev());
        Ok(())
    }

    /// Parses variables of one type; `None` if no declaration starts here.
    pub(super) fn declaration(&mut self) -> Parsed<Option<Vec<Variable>>> {
        let start = self.position;
        let mut is_hidden = false;
        while let Some(word) = ["hidden", "show", "local"]
            .into_iter()
            .find(|word| self.take(word))
        {
            is_hidden |= word == "hidden";
        }
        let Some(type_name) = self.type_name()? else {
            return if self.position == start {
                Ok(None)
            } else {
                self.unexpected("a type")
            };
        };
        let mut variables = Vec::new();
        loop {
            let variable = self.variable(type_name.clone())?;
            variables.push(Variable {
                is_hidden,
                ..variable
            });
            // Parameters of one type end where the next one has a type.
            if !self.next_is(",") || self.begins_type(1) {
                return Ok(Some(variables));
            }
            self.take(",");
        }
    }

    fn begins_type(&self, ahead: usize) -> bool {
        let types = [
            "bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan", "hidden",
            "show", "local",
        ];
        self.peek_at(ahead).is_some_and(|token| {
            let is_record = token.name().is_some_and(|name| self.records.contains(name));
            is_record || types.iter().any(|word| token.is(word))
        })
    }

    /// Parses a type; `None` if there is none.
    pub(super) fn type_name(&mut self) -> Parsed<Option<TypeName>> {
        if !self.begins_type(0) {
            return Ok(None);
        }
        let Some(name) = self.peek().and_then(|token| token.name()).cloned() else {
            return Ok(None);
        };
        let span = self.span();
        self.position += 1;
        Ok(Some(match &*name {
            "bit" => TypeName::Bit,
            "bool" => TypeName::Bool,
            "byte" => TypeName::Byte,
            "pid" => TypeName::Pid,
            "short" => TypeName::Short,
            "int" => TypeName::Int,
            // The number of bits follows the name.
            "unsigned" => TypeName::Unsigned(0),
            "chan" => TypeName::Channel,
            "mtype" => {
                let set = if self.take(":") {
                    Some(self.name()?.text)
                } else {
                    None
                };
                TypeName::Mtype(set)
            }
            _ => TypeName::Record(Name { text: name, span }),
        }))
    }

    fn variable(&mut self, type_name: TypeName) -> Parsed<Variable> {
        let name = self.name()?;
        let mut type_name = type_name;
        if self.take(":") {
            let bits = match self.peek().map(|token| &token.kind) {
                Some(&Kind::Number(number)) if (1..=32).contains(&number) => number as u8,
                _ => return self.unexpected("a number of bits from 1 to 31"),
            };
            self.position += 1;
            // Spin's verifier ignores the number for all other types. It is accepted where
            // that makes no difference.
            match type_name {
                TypeName::Unsigned(_) if bits <= 31 => type_name = TypeName::Unsigned(bits),
                TypeName::Bit | TypeName::Bool if bits == 1 => {}
                TypeName::Byte | TypeName::Pid if bits == 8 => {}
                TypeName::Short if bits == 16 => {}
                TypeName::Int if bits == 32 => {}
                TypeName::Unsigned(_) => return self.unexpected("a number of bits from 1 to 31"),
                _ => {
                    let message = "only an `unsigned` has a number of bits";
                    let fault = crate::Fault::new("type", message, Some(name.span));
                    let help = format!("write `unsigned {} : {bits}`", name.text);
                    self.faults.push(fault.help(help));
                    return Err(super::Reported);
                }
            }
        } else if type_name == TypeName::Unsigned(0) {
            let message = "an `unsigned` needs a number of bits: `unsigned name : 5`";
            return self.refuse("type", message, name.span);
        }
        let length = if self.take("[") {
            let length = self.expression()?;
            self.expect("]")?;
            Some(length)
        } else {
            None
        };
        let initial = if self.take("=") {
            self.initial()?
        } else {
            Initial::Nothing
        };
        Ok(Variable {
            name,
            type_name,
            length,
            initial,
            is_hidden: false,
        })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        if self.take("[") {
            let capacity = self.expression()?;
            self.expect("]")?;
            self.expect("of")?;
            self.expect("{")?;
            let mut fields = Vec::new();
            loop {
                match self.type_name()? {
                    Some(TypeName::Unsigned(_)) => {
                        let span = self.last_span();
                        let message = "an `unsigned` cannot be a field of a message";
                        return self.refuse("type", message, span);
                    }
                    Some(type_name) => fields.push(type_name),
                    None => return self.unexpected("a type"),
                }
                if !self.take(",") {
                    break;
                }
            }
            self.expect("}")?;
            return Ok(Initial::Channel { capacity, fields });
        }
        if self.take("{") {
            let mut values = Vec::new();
            while !self.take("}") {
                values.push(self.expression()?);
                self.take(",");
            }
            return Ok(Initial::List(values));
        }
        Ok(Initial::Value(self.expression()?))
    }
}
