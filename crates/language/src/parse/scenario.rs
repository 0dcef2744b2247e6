//! Parser of scenarios: their names, properties and triggers.

use super::Parser;
use crate::suggest::suggest;
use crate::syntax::{Name, ReactionDeclaration, ScenarioDeclaration, TriggerDeclaration};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

/// The triggers of a reaction.
const TRIGGERS: [&str; 8] = [
    "enter", "leave", "verdict", "action", "start", "exit", "stop", "signal",
];

impl Parser<'_> {
    /// Returns true if a property or scenario begins here.
    pub(super) fn at_declaration(&self) -> bool {
        self.is_word("property") || self.at_scenario()
    }

    /// `scenario` alone may be a name.
    pub(super) fn at_scenario(&self) -> bool {
        self.is_word("scenario") && self.kind_ahead(1) == TokenKind::Word
    }

    pub(super) fn scenario(&mut self) -> Option<ScenarioDeclaration> {
        let start = self.start();
        let reports = self.reports;
        self.advance();
        let Some(name) = self.expect_name("the name of the scenario") else {
            self.skip_to(Self::at_declaration);
            return None;
        };
        let description =
            (self.kind() == TokenKind::Text).then(|| self.quoted_text().into_boxed_str());
        let mut scenario = ScenarioDeclaration {
            name,
            description,
            properties: Vec::new(),
            variables: Vec::new(),
            reactions: Vec::new(),
            complete: false,
            span: start..start,
        };
        if self.take_word("for") && self.scenario_properties(&mut scenario).is_none() {
            self.skip_to_scenario_item();
        }
        while self.kind() != TokenKind::End && !self.at_declaration() {
            if self.scenario_item(&mut scenario).is_none() {
                self.skip_to_scenario_item();
            }
        }
        scenario.span = self.span_from(start);
        let spoiled = self.diagnostics.iter().any(|diagnostic| {
            scenario.span.contains(&diagnostic.span.start) && diagnostic.is_error()
        });
        scenario.complete = reports == self.reports && !spoiled;
        Some(scenario)
    }

    fn scenario_properties(&mut self, scenario: &mut ScenarioDeclaration) -> Option<()> {
        scenario.properties = self.name_list("the name of a property")?;
        Some(())
    }

    /// `a, b`
    pub(super) fn name_list(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = Vec::new();
        loop {
            names.push(self.expect_name(what)?);
            if !self.take(Sign::Comma) {
                return Some(names);
            }
        }
    }

    /// Parses one item; takes at least one token.
    fn scenario_item(&mut self, scenario: &mut ScenarioDeclaration) -> Option<()> {
        match self.text() {
            _ if self.take(Sign::Semicolon) => {}
            "var" => scenario.variables.push(self.variable()?),
            "on" => scenario.reactions.push(self.reaction()?),
            word => {
                let error = self.expected("an item of the scenario");
                let error = match self.kind() {
                    TokenKind::Word => match suggest(word, ["var", "on"]) {
                        similar @ Some(_) => error.did_you_mean(similar),
                        None => error.help("items of a scenario: `var`, `on`"),
                    },
                    TokenKind::Sign(Sign::OpenBrace) => {
                        error.help("a scenario has no braces: its items follow its name")
                    }
                    _ => error.help("items of a scenario: `var`, `on`"),
                };
                self.report(error);
                self.advance();
                return None;
            }
        }
        Some(())
    }

    /// Skips to the next item of the scenario, or to the end of the scenario.
    fn skip_to_scenario_item(&mut self) {
        let mut open = 0_usize;
        while self.kind() != TokenKind::End && !self.at_declaration() {
            match self.kind() {
                TokenKind::Word if open == 0 && matches!(self.text(), "on" | "var") => return,
                TokenKind::Sign(Sign::OpenBrace) => open += 1,
                TokenKind::Sign(Sign::CloseBrace) => open = open.saturating_sub(1),
                // A block was not closed: `on` is never a name.
                TokenKind::Word if self.text() == "on" => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// `on trigger of property when guard { … }`
    fn reaction(&mut self) -> Option<ReactionDeclaration> {
        let start = self.start();
        self.advance();
        let (trigger, dotted) = self.trigger()?;
        let property = match self.is_word("of") {
            true if dotted.is_some() => {
                let error = Diagnostic::error(
                    "named-twice",
                    self.span(),
                    "the property is already named before the action",
                );
                self.report(error.help("omit `of` and its name"));
                return None;
            }
            true => {
                self.advance();
                Some(self.expect_name("the name of a property")?)
            }
            false => dotted,
        };
        let span = self.span_from(start);
        let guard = if self.is_word("when") {
            self.advance();
            Some(self.expression())
        } else {
            None
        };
        let body = self.reaction_block()?;
        Some(ReactionDeclaration {
            trigger,
            property,
            guard,
            body,
            span,
        })
    }

    /// Parses the trigger, and the property if the trigger names it: `action p.a`.
    fn trigger(&mut self) -> Option<(TriggerDeclaration, Option<Name>)> {
        let word = self.text();
        if self.kind() != TokenKind::Word || !TRIGGERS.contains(&word) {
            let error = self.expected("a trigger");
            let similar = match self.kind() {
                TokenKind::Word => suggest(word, TRIGGERS),
                _ => None,
            };
            self.report(match similar {
                Some(_) => error.did_you_mean(similar),
                None => error.help(format!("after `on`: `{}`", TRIGGERS.join("`, `"))),
            });
            return None;
        }
        self.advance();
        let mut property = None;
        let trigger = match word {
            "enter" => TriggerDeclaration::Enter(self.name_list("the name of a state")?),
            "leave" => TriggerDeclaration::Leave(self.name_list("the name of a state")?),
            "verdict" => TriggerDeclaration::Verdict(self.verdicts()),
            "action" => {
                let mut name = self.action_name()?;
                if self.take(Sign::Dot) {
                    property = Some(name);
                    name = self.action_name()?;
                }
                TriggerDeclaration::Action(name)
            }
            "start" => TriggerDeclaration::Start,
            "exit" => TriggerDeclaration::Exit,
            "stop" => TriggerDeclaration::Stop,
            _ => TriggerDeclaration::Signal(if self.at_clause() {
                None
            } else {
                Some(self.expect_name("the name of a signal")?)
            }),
        };
        Some((trigger, property))
    }

    fn action_name(&mut self) -> Option<Name> {
        if self.kind() == TokenKind::Text {
            let span = self.span();
            return Some(Name {
                text: self.quoted_text().into(),
                span,
            });
        }
        self.expect_name("the name of an action")
    }

    /// Returns true at the end of the trigger.
    fn at_clause(&self) -> bool {
        self.kind() != TokenKind::Word || matches!(self.text(), "of" | "when")
    }

    /// Parses `violated, presumably satisfied`; an empty list means any verdict.
    fn verdicts(&mut self) -> Vec<Name> {
        let mut names = Vec::new();
        while !self.at_clause() {
            let start = self.start();
            let is_presumed = self.is_word("presumably") && self.kind_ahead(1) == TokenKind::Word;
            if is_presumed {
                self.advance();
            }
            let text = if is_presumed {
                format!("presumably {}", self.text())
            } else {
                self.text().to_owned()
            };
            self.advance();
            names.push(Name {
                text: text.into(),
                span: self.span_from(start),
            });
            if !self.take(Sign::Comma) {
                break;
            }
        }
        names
    }
}
