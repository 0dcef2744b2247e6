//! Parser of top-level declarations.

use super::{Outcome, Parser};
use crate::Span;
use crate::asm::syntax::{
    Action, Expression, Field, FunctionItem, FunctionKind, Item, Name, Parameter, When,
};
use std::sync::Arc;

const STARTS: &[&str] = &[
    "refine",
    "enum",
    "universe",
    "class",
    "static",
    "derived",
    "controlled",
    "monitored",
    "shared",
    "rule",
    "main",
    "initially",
    "invariant",
    "ltl",
    "abstraction",
    "record",
    "override",
];

impl Parser {
    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at_end() {
            match self.item() {
                Ok(item) => items.push(item),
                Err(fault) => {
                    self.faults.push(fault);
                    self.nesting = 0;
                    self.recover();
                }
            }
        }
        items
    }

    /// Error recovery: skips to what looks like the next declaration, a keyword that
    /// starts one, first on its line, as far as braces tell.
    fn recover(&mut self) {
        self.advance();
        while !self.at_end() && !STARTS.iter().any(|start| self.at(start)) {
            self.advance();
        }
    }

    fn item(&mut self) -> Outcome<Item> {
        let start = self.span();
        let overrides = self.take("override");
        if let Some(kind) = self.function_kind() {
            return Ok(Item::Function(self.function(kind, overrides)?));
        }
        let word = STARTS.iter().find(|word| self.at(word)).copied();
        let Some(word) = word else {
            return Err(self
                .wrong("a declaration")
                .help("one begins with `enum`, `controlled`, `rule`, `main`, `invariant` ..."));
        };
        let may_override = matches!(word, "rule" | "main" | "initially" | "invariant" | "ltl");
        if overrides && !may_override {
            return Err(self.wrong("something that can be overridden").help(
                "rules, functions, `main`, `initially`, invariants and formulas can be overridden",
            ));
        }
        let name = Name {
            text: word.into(),
            span: self.span(),
        };
        self.advance();
        match word {
            "refine" => {
                let file = self.string("the name of a file")?;
                Ok(Item::Refine(file, self.since(start)))
            }
            "enum" => self.enumeration(),
            "universe" => {
                let name = self.name("a name for the universe")?;
                self.expect("=")?;
                Ok(Item::Universe(name, self.written_type()?))
            }
            "class" => self.class(),
            "rule" => self.rule_item(overrides),
            "invariant" => {
                let (name, condition) = self.named_expression()?;
                Ok(Item::Invariant {
                    name,
                    condition,
                    overrides,
                })
            }
            "ltl" => {
                self.formula = true;
                let named = self.named_expression();
                self.formula = false;
                let (name, formula) = named?;
                Ok(Item::Ltl {
                    name,
                    formula,
                    overrides,
                })
            }
            "abstraction" => self.abstraction(start),
            "record" => self.record(),
            _ => {
                let body = self.block()?;
                Ok(Item::Block {
                    name,
                    body,
                    overrides,
                })
            }
        }
    }

    fn function_kind(&mut self) -> Option<FunctionKind> {
        let kinds = [
            ("static", FunctionKind::Static),
            ("derived", FunctionKind::Derived),
            ("controlled", FunctionKind::Controlled),
            ("monitored", FunctionKind::Monitored),
            ("shared", FunctionKind::Shared),
        ];
        let (_, kind) = kinds.into_iter().find(|(word, _)| self.at(word))?;
        self.advance();
        Some(kind)
    }

    fn function(&mut self, kind: FunctionKind, overrides: bool) -> Outcome<FunctionItem> {
        let name = self.name("a name for the function")?;
        let parameters = self.parameters()?;
        self.expect(":")?;
        let result = self.written_type()?;
        let possible = if self.take("possible") {
            Some(self.operand()?)
        } else {
            None
        };
        let value = if self.take("=") {
            Some(self.expression()?)
        } else {
            None
        };
        Ok(FunctionItem {
            kind,
            name,
            parameters,
            result,
            possible,
            value,
            overrides,
        })
    }

    fn parameters(&mut self) -> Outcome<Vec<Parameter>> {
        if self.take("(") {
            self.list(")", Parser::parameter)
        } else {
            Ok(Vec::new())
        }
    }

    fn parameter(&mut self) -> Outcome<Parameter> {
        let name = self.name("a name")?;
        self.expect(":")?;
        let written = self.written_type()?;
        Ok(Parameter { name, written })
    }

    fn enumeration(&mut self) -> Outcome<Item> {
        let name = self.name("a name for the enumeration")?;
        self.expect("=")?;
        let mut elements = vec![self.name("a name for an element")?];
        while self.take("|") {
            elements.push(self.name("a name for an element")?);
        }
        Ok(Item::Enumeration(name, elements))
    }

    fn class(&mut self) -> Outcome<Item> {
        let name = self.name("a name for the class")?;
        let mut fields = Vec::new();
        if self.take("{") {
            while !self.take("}") {
                let parameter = self.parameter()?;
                let value = if self.take("=") {
                    Some(self.expression()?)
                } else {
                    None
                };
                fields.push(Field { parameter, value });
            }
        }
        Ok(Item::Class(name, fields))
    }

    fn rule_item(&mut self, overrides: bool) -> Outcome<Item> {
        let name = self.name("a name for the rule")?;
        let parameters = self.parameters()?;
        let body = self.block()?;
        Ok(Item::Rule {
            name,
            parameters,
            body,
            overrides,
        })
    }

    fn named_expression(&mut self) -> Outcome<(Name, Expression)> {
        let name = self.name("a name")?;
        self.expect("=")?;
        Ok((name, self.expression()?))
    }

    fn abstraction(&mut self, start: Span) -> Outcome<Item> {
        self.expect("of")?;
        let file = self.string("the name of the abstract model's file")?;
        let span = self.since(start);
        self.expect("{")?;
        let mut pairs = Vec::new();
        while !self.take("}") {
            pairs.push(self.named_expression()?);
        }
        Ok(Item::Abstraction { file, span, pairs })
    }

    fn record(&mut self) -> Outcome<Item> {
        self.expect("{")?;
        let (mut table, mut unset) = (Vec::new(), Vec::new());
        while !self.take("}") {
            if self.take("any") {
                unset.push(self.name("a function")?);
                while self.take(",") {
                    unset.push(self.name("a function")?);
                }
                continue;
            }
            self.expect("when")?;
            let mut keys = vec![self.key()?];
            while self.take(",") {
                keys.push(self.key()?);
            }
            let actions = self.actions()?;
            table.push(When { keys, actions });
        }
        Ok(Item::Record(table, unset))
    }

    fn key(&mut self) -> Outcome<(Name, Vec<Arc<str>>)> {
        let name = self.name("a key of the line")?;
        self.expect("=")?;
        let what = "a text, as it is in the line";
        let mut texts = vec![self.string(what)?];
        while self.take("|") {
            texts.push(self.string(what)?);
        }
        Ok((name, texts))
    }

    fn actions(&mut self) -> Outcome<Vec<Action>> {
        self.expect("{")?;
        let mut actions = Vec::new();
        while !self.take("}") {
            actions.push(self.nested(Parser::action)?);
        }
        Ok(actions)
    }

    /// Parses `set f = value`, `step`, `check condition` or `maybe { ... }`.
    fn action(&mut self) -> Outcome<Action> {
        let start = self.span();
        if self.take("set") {
            let (name, value) = self.named_expression()?;
            return Ok(Action::Set(name, value));
        }
        if self.take("step") {
            return Ok(Action::Step(start));
        }
        if self.take("check") {
            return Ok(Action::Check(self.expression()?));
        }
        if self.take("maybe") {
            return Ok(Action::Maybe(self.actions()?));
        }
        Err(self.wrong("`set`, `step`, `check` or `maybe`"))
    }
}
