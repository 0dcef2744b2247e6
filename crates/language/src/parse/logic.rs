//! Parser of propositions, quantification and demands.

use super::Parser;
use crate::suggest::suggest;
use crate::syntax::{
    DemandDeclaration, DemandKind, ForEach, FormulaDefinition, Name, ParameterDeclaration,
    ParameterSort, PropertyDeclaration, PropositionAction, PropositionClause,
    PropositionDeclaration,
};
use crate::token::{Sign, TokenKind};
use juror_fault::Diagnostic;

impl Parser<'_> {
    /// `for each thread t, u and address a, b where t != u`
    pub(super) fn for_each(&mut self, property: &mut PropertyDeclaration) -> Option<()> {
        let start = self.start();
        self.advance();
        if !self.take_word("each") {
            let error = self.expected("`each` after `for`");
            self.report(error);
            return None;
        }
        let mut parameters = Vec::new();
        loop {
            self.parameters(&mut parameters)?;
            if !self.take_word("and") {
                break;
            }
        }
        let constraint = self.take_word("where").then(|| self.expression());
        let span = self.span_from(start);
        if let Some(first) = &property.for_each {
            let error = Diagnostic::error("two-for-each", span, "there are two `for each`")
                .label(first.span.clone(), "the first is here")
                .help("join them: `for each thread t and address a`");
            self.report(error);
            return Some(());
        }
        property.for_each = Some(ForEach {
            parameters,
            constraint,
            span,
        });
        Some(())
    }

    /// `thread t, u`
    fn parameters(&mut self, parameters: &mut Vec<ParameterDeclaration>) -> Option<()> {
        let sorts = ParameterSort::ALL;
        let has_sort = self.kind() == TokenKind::Word
            && self.kind_ahead(1) == TokenKind::Word
            && !matches!(self.text_ahead(1), "and" | "where")
            && !self.at_item_ahead(1)
            && self.text_ahead(1) != "property";
        let word = self.text();
        let known = sorts.iter().find(|(name, _)| *name == word);
        let sort = match known {
            Some((_, sort)) => *sort,
            None if has_sort => {
                let error = self.expected("the sort of the parameter");
                let similar = suggest(word, sorts.iter().map(|(name, _)| *name));
                self.report(match similar {
                    Some(_) => error.did_you_mean(similar),
                    None => error.help("known: thread, address, integer, text, value"),
                });
                return None;
            }
            None => ParameterSort::Value,
        };
        if has_sort {
            self.advance();
        }
        loop {
            let name = self.expect_name("the name of a parameter")?;
            parameters.push(ParameterDeclaration { name, sort });
            if !self.take(Sign::Comma) {
                return Some(());
            }
        }
    }

    /// `proposition name(a, b) set … cleared … pulse …`
    pub(super) fn proposition(&mut self) -> Option<PropositionDeclaration> {
        let start = self.start();
        self.advance();
        let name = self.expect_name("the name of the proposition")?;
        let parameters = self.names_in_parentheses("the name of a parameter", false)?;
        let mut clauses = Vec::new();
        while let Some(action) = self.clause_action() {
            clauses.push(self.clause(action)?);
        }
        if clauses.is_empty() {
            let error = self.expected("`set`, `cleared` or `pulse`");
            self.report(error.help(format!(
                "give the event at which `{}` becomes true: `set after lock(m)`",
                name.text
            )));
            return None;
        }
        Some(PropositionDeclaration {
            name,
            parameters,
            clauses,
            span: self.span_from(start),
        })
    }

    fn clause_action(&self) -> Option<PropositionAction> {
        let actions = [
            PropositionAction::Set,
            PropositionAction::Clear,
            PropositionAction::Pulse,
        ];
        let is_word = self.kind() == TokenKind::Word;
        actions
            .into_iter()
            .find(|action| is_word && action.word() == self.text())
    }

    fn clause(&mut self, action: PropositionAction) -> Option<PropositionClause> {
        let start = self.start();
        self.advance();
        let event = self.event_reference()?;
        let guard = self.take_word("when").then(|| self.expression());
        Some(PropositionClause {
            action,
            event,
            guard,
            span: self.span_from(start),
        })
    }

    /// `let name(x, y) = formula`
    pub(super) fn definition(&mut self) -> Option<FormulaDefinition> {
        let start = self.start();
        self.advance();
        let name: Name = self.expect_name("the name of the formula")?;
        let parameters = self.names_in_parentheses("the name of a parameter", false)?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        let formula = self.formula();
        Some(FormulaDefinition {
            name,
            parameters,
            formula,
            span: self.span_from(start),
        })
    }

    /// `ltl …`, `pattern …`, `never …`, `matches …`
    pub(super) fn demand(&mut self) -> Option<DemandDeclaration> {
        let start = self.start();
        let word = self.text();
        self.advance();
        // A colon may introduce a long demand.
        self.take(Sign::Colon);
        let kind = match word {
            "ltl" => DemandKind::Formula(self.formula()),
            "pattern" => DemandKind::Pattern(Box::new(self.pattern()?)),
            "never" => DemandKind::Never(self.sequence_expression()),
            _ => DemandKind::Matches(self.sequence_expression()),
        };
        Some(DemandDeclaration {
            kind,
            span: self.span_from(start),
        })
    }
}
