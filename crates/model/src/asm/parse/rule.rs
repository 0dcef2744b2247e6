//! Parser of rules, which have no separators.

use super::{Outcome, Parser};
use crate::asm::syntax::{Arm, Expression, ExpressionKind, Pattern, Rule, RuleKind};
use crate::{Fault, Span};

impl Parser {
    /// Parses rules in braces, composed in parallel.
    pub(super) fn block(&mut self) -> Outcome<Rule> {
        let start = self.span();
        let rules = self.rules()?;
        Ok(self.rule(start, RuleKind::Par(rules)))
    }

    fn rule(&self, start: Span, kind: RuleKind) -> Rule {
        let span = self.since(start);
        Rule { kind, span }
    }

    fn rules(&mut self) -> Outcome<Vec<Rule>> {
        self.expect("{")?;
        let mut rules = Vec::new();
        while !self.take("}") {
            if self.at_end() {
                return Err(self.wrong("a rule or `}`"));
            }
            rules.push(self.nested(Parser::one_rule)?);
        }
        Ok(rules)
    }

    fn one_rule(&mut self) -> Outcome<Rule> {
        let start = self.span();
        let kind = if self.take("skip") {
            RuleKind::Skip
        } else if self.at("{") {
            RuleKind::Par(self.rules()?)
        } else if self.take("seq") {
            RuleKind::Seq(self.rules()?)
        } else if self.take("if") {
            self.condition()?
        } else if self.take("case") {
            self.case()?
        } else if self.take("let") {
            let name = self.name("a name for the value")?;
            self.expect("=")?;
            let value = self.expression()?;
            RuleKind::Let(name, value, Box::new(self.block()?))
        } else if self.take("forall") {
            let each = self.each()?;
            RuleKind::Forall(each, Box::new(self.block()?))
        } else if self.take("choose") {
            self.choose(start)?
        } else if self.take("assert") {
            RuleKind::Assert(self.expression()?)
        } else {
            return self.update_or_call(start);
        };
        Ok(self.rule(start, kind))
    }

    fn condition(&mut self) -> Outcome<RuleKind> {
        let condition = self.expression()?;
        if self.at("then") {
            let fault = self.wrong("`{`");
            return Err(fault.help("rules have no `then`; write `if c { ... } else { ... }`"));
        }
        let then = Box::new(self.block()?);
        let otherwise = self.otherwise()?;
        Ok(RuleKind::If(condition, then, otherwise))
    }

    /// Parses the rule after `else`; an empty one if there is none.
    fn otherwise(&mut self) -> Outcome<Box<Rule>> {
        let start = self.span();
        let rule = if !self.take("else") {
            self.rule(start, RuleKind::Skip)
        } else if self.at("if") {
            self.nested(Parser::one_rule)?
        } else {
            self.block()?
        };
        Ok(Box::new(rule))
    }

    fn case(&mut self) -> Outcome<RuleKind> {
        let subject = self.expression()?;
        self.expect("{")?;
        let mut arms = Vec::new();
        while !self.at("}") && !self.at("else") {
            let mut patterns = vec![self.pattern()?];
            while self.take(",") {
                patterns.push(self.pattern()?);
            }
            let body = self.block()?;
            arms.push(Arm { patterns, body });
        }
        let otherwise = self.otherwise()?;
        self.expect("}")?;
        Ok(RuleKind::Case(subject, arms, otherwise))
    }

    fn pattern(&mut self) -> Outcome<Pattern> {
        self.nested(Parser::one_pattern)
    }

    fn one_pattern(&mut self) -> Outcome<Pattern> {
        let start = self.span();
        if self.take("_") {
            return Ok(Pattern::Any);
        }
        if self.take("let") {
            return Ok(Pattern::Bind(self.name("a name for the value")?));
        }
        if self.take("(") {
            let mut parts = self.list(")", Parser::pattern)?;
            return Ok(match parts.len() {
                1 => parts.remove(0),
                _ => Pattern::Tuple(parts, self.since(start)),
            });
        }
        Ok(Pattern::Value(self.expression()?))
    }

    fn choose(&mut self, start: Span) -> Outcome<RuleKind> {
        if self.at("{") {
            let mut rules = vec![self.block()?];
            while self.take("or") {
                rules.push(self.block()?);
            }
            if rules.len() < 2 {
                let fault = Fault::new(
                    "syntax",
                    "this choice has only one rule",
                    Some(self.since(start)),
                );
                return Err(fault.help("write `choose { ... } or { ... }`"));
            }
            return Ok(RuleKind::Either(rules));
        }
        let each = self.each()?;
        let body = Box::new(self.block()?);
        let otherwise = self.otherwise()?;
        Ok(RuleKind::Choose(each, body, otherwise))
    }

    fn update_or_call(&mut self, start: Span) -> Outcome<Rule> {
        if !self.at_name() {
            let fault = self.wrong("a rule");
            return Err(if self.at("=") {
                fault.help("an update is `x := e`; `=` compares")
            } else {
                fault
            });
        }
        let place = self.sum()?;
        let kind = if self.take(":=") {
            RuleKind::Update(place, self.expression()?)
        } else {
            call(place)?
        };
        Ok(self.rule(start, kind))
    }
}

/// Converts an expression in the position of a rule to a call.
fn call(place: Expression) -> Outcome<RuleKind> {
    match place.kind {
        ExpressionKind::Name(name) => Ok(RuleKind::Call(name, Vec::new())),
        ExpressionKind::Call(name, arguments) => Ok(RuleKind::Call(name, arguments)),
        ExpressionKind::Field(of, name) => Ok(RuleKind::Call(name, vec![*of])),
        _ => {
            let fault = Fault::new("syntax", "this value is not used", Some(place.span));
            Err(fault.help("a rule is an update (`x := 1`), a call, or begins with a word"))
        }
    }
}
