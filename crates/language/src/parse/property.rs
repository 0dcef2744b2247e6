//! Parser of files, properties and their items.

use super::Parser;
use super::formula::{goes_on, is_infix};
use crate::suggest::suggest;
use crate::syntax::{
    Declarations, File, Name, PropertyDeclaration, UseDeclaration, VariableDeclaration,
};
use crate::token::{Sign, TokenKind};

/// The words that begin an item of a property.
const ITEMS: &[&str] = &[
    "slice",
    "for",
    "event",
    "var",
    "state",
    "proposition",
    "let",
    "function",
    "ltl",
    "pattern",
    "never",
    "matches",
    "use",
];

/// Items that a parenthesis or operator may follow directly.
const DEMANDS: &[&str] = &["ltl", "pattern", "never", "matches"];

/// Items that properties can share.
const SHARED: &[&str] = &["event", "proposition", "let", "function"];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while self.kind() != TokenKind::End {
            if self.take(Sign::Semicolon) {
                continue;
            }
            if self.is_word("property") {
                if let Some(property) = self.property() {
                    file.properties.push(property);
                }
                continue;
            }
            if self.at_scenario() {
                if let Some(scenario) = self.scenario() {
                    file.scenarios.push(scenario);
                }
                continue;
            }
            let is_first = file.properties.is_empty() && file.scenarios.is_empty();
            if self.kind() == TokenKind::Word && is_first {
                if self.text() == "use" {
                    match self.used_file() {
                        Some(used) => file.uses.push(used),
                        None => self.skip_to(Self::at_item),
                    }
                    continue;
                }
                if SHARED.contains(&self.text()) {
                    let name = self.name_ahead();
                    if self.shared_item(&mut file.shared).is_none() {
                        file.shared.unread.extend(name);
                        self.skip_to(Self::at_item);
                    }
                    continue;
                }
            }
            self.not_in_file();
        }
        let empty = file.properties.is_empty()
            && file.scenarios.is_empty()
            && file.shared.is_empty()
            && file.uses.is_empty();
        if empty && !self.has_errors() {
            let error = crate::Diagnostic::error(
                "no-property",
                0..self.source.len(),
                "this file has no property",
            );
            self.report(error.help("a file begins with `property NAME`"));
        }
        file
    }

    /// Reports an item that must be inside of a property; takes at least one token.
    fn not_in_file(&mut self) {
        let error = self.expected("`property`");
        let similar = suggest(self.text(), ["property", "scenario"]);
        self.report(match similar {
            Some(_) => error.did_you_mean(similar),
            None => error.help(
                "a file begins with `property NAME`, after any `use`, `event`, `proposition`, \
                 `let` and `function`",
            ),
        });
        self.advance();
        self.skip_to(|parser| {
            parser.at_declaration() || (parser.at_item() && SHARED.contains(&parser.text()))
        });
    }

    /// `use "library.prop"`
    fn used_file(&mut self) -> Option<UseDeclaration> {
        let start = self.start();
        self.advance();
        if self.kind() != TokenKind::Text {
            let error = self.expected("the name of a file in quotes");
            self.report(error.help("write `use \"library.prop\"`"));
            return None;
        }
        let span = self.span();
        let path = Name {
            text: self.quoted_text().into(),
            span,
        };
        Some(UseDeclaration {
            path,
            span: self.span_from(start),
        })
    }

    /// Skips tokens up to the first at which `condition` holds.
    pub(super) fn skip_to(&mut self, condition: impl Fn(&Self) -> bool) {
        while self.kind() != TokenKind::End && !condition(self) {
            self.advance();
        }
    }

    /// Returns true if an item or a property begins here: its keyword and a name, since
    /// `event` alone may be a variable.
    pub(super) fn at_item(&self) -> bool {
        self.at_item_ahead(0)
    }

    /// The same at an offset from the current token.
    pub(super) fn at_item_ahead(&self, ahead: usize) -> bool {
        if self.kind_ahead(ahead) != TokenKind::Word {
            return false;
        }
        let word = self.text_ahead(ahead);
        let known = ITEMS.contains(&word) || matches!(word, "property" | "scenario");
        known
            && match self.kind_ahead(ahead + 1) {
                TokenKind::Word => !self.is_proposition_ahead(ahead),
                TokenKind::Text => word == "use",
                TokenKind::Sign(
                    Sign::OpenParenthesis | Sign::Not | Sign::OpenBracket | Sign::Less,
                ) => DEMANDS.contains(&word),
                _ => false,
            }
    }

    /// Returns true if the keyword of an item at an offset, with a word after it, is the
    /// name of a proposition or event in a formula: an operator follows (`use implies
    /// open`), or the next item (`always use event …`), and what comes then does not
    /// continue an item of this keyword.
    fn is_proposition_ahead(&self, ahead: usize) -> bool {
        let (word, next) = (self.text_ahead(ahead), self.text_ahead(ahead + 1));
        if word == "use" {
            // Without quotes it is a mistake that is reported as one.
            return is_infix(next) || ITEMS.contains(&next) || next == "property";
        }
        if DEMANDS.contains(&word) {
            return match next {
                // These are never names.
                "and" | "or" => true,
                "weak" => self.text_ahead(ahead + 2) == "until",
                _ => goes_on(next) && self.begins_operand_ahead(ahead + 2),
            };
        }
        if !(is_infix(next) || ITEMS.contains(&next)) {
            return false;
        }
        let third = self.token(ahead + 2);
        let is_spaced = third.is_some_and(|token| token.spaced);
        let continues = match self.kind_ahead(ahead + 2) {
            TokenKind::Sign(Sign::Assign) => matches!(word, "event" | "var" | "let"),
            TokenKind::Sign(Sign::OpenParenthesis) => {
                matches!(word, "function" | "proposition" | "let") && !is_spaced
            }
            TokenKind::Sign(Sign::OpenBrace) => word == "state",
            TokenKind::Text => matches!(word, "property" | "scenario"),
            TokenKind::Word => match (word, self.text_ahead(ahead + 2)) {
                ("state", text) => matches!(text, "accepting" | "non" | "final"),
                ("proposition", text) => matches!(text, "set" | "cleared" | "pulse"),
                ("property" | "scenario", text) => ITEMS.contains(&text) || text == "for",
                _ => false,
            },
            _ => false,
        };
        !continues
    }

    /// Returns true if an operand of a formula may begin at an offset.
    fn begins_operand_ahead(&self, ahead: usize) -> bool {
        match self.kind_ahead(ahead) {
            TokenKind::Word => !is_infix(self.text_ahead(ahead)),
            TokenKind::Sign(sign) => matches!(
                sign,
                Sign::OpenParenthesis | Sign::Not | Sign::OpenBracket | Sign::Less
            ),
            _ => false,
        }
    }

    /// Returns true if a name is missing and the next item begins. A function may be
    /// called `state`, with an item or more of its event after it.
    pub(super) fn at_next_item(&self) -> bool {
        let next = self.text_ahead(1);
        self.at_item()
            && self.kind_ahead(1) == TokenKind::Word
            && !ITEMS.contains(&next)
            && ![
                "in", "returns", "property", "when", "cleared", "set", "pulse",
            ]
            .contains(&next)
    }

    fn property(&mut self) -> Option<PropertyDeclaration> {
        let start = self.start();
        let reports = self.reports;
        self.advance();
        let Some(name) = self.expect_name("the name of the property") else {
            self.skip_to(Self::at_declaration);
            return None;
        };
        let description =
            (self.kind() == TokenKind::Text).then(|| self.quoted_text().into_boxed_str());
        let mut property = PropertyDeclaration {
            name,
            description,
            slice: Vec::new(),
            for_each: None,
            declarations: Declarations::default(),
            variables: Vec::new(),
            states: Vec::new(),
            demands: Vec::new(),
            complete: false,
            span: start..start,
        };
        while self.kind() != TokenKind::End && !self.at_declaration() {
            self.item(&mut property);
        }
        property.span = self.span_from(start);
        let spoiled = self.diagnostics.iter().any(|diagnostic| {
            property.span.contains(&diagnostic.span.start) && diagnostic.is_error()
        });
        property.complete = reports == self.reports && !spoiled;
        Some(property)
    }

    /// Parses one item; takes at least one token.
    fn item(&mut self, property: &mut PropertyDeclaration) {
        let has_name = self.is_word("var") || SHARED.contains(&self.text());
        let name = has_name.then(|| self.name_ahead()).flatten();
        let done = match self.text() {
            _ if self.take(Sign::Semicolon) => Some(()),
            "slice" => self.slice(property),
            "for" => self.for_each(property),
            "var" => self
                .variable()
                .map(|variable| property.variables.push(variable)),
            "state" => {
                // Its error recovery stays within its braces.
                if let Some(state) = self.state() {
                    property.states.push(state);
                }
                return;
            }
            word if SHARED.contains(&word) => self.shared_item(&mut property.declarations),
            word if DEMANDS.contains(&word) => {
                self.demand().map(|demand| property.demands.push(demand))
            }
            _ => {
                self.not_an_item();
                self.advance();
                None
            }
        };
        if done.is_none() {
            property.declarations.unread.extend(name);
            self.skip_to(Self::at_item);
        }
    }

    /// Returns the name of the item that begins here.
    fn name_ahead(&self) -> Option<Name> {
        let is_name = self.kind_ahead(1) == TokenKind::Word;
        is_name.then(|| Name {
            text: self.text_ahead(1).into(),
            span: self.token(1).map_or(0..0, |token| token.span.clone()),
        })
    }

    /// Parses an item that properties can share.
    fn shared_item(&mut self, declarations: &mut Declarations) -> Option<()> {
        match self.text() {
            "event" => declarations.events.push(self.event()?),
            "proposition" => declarations.propositions.push(self.proposition()?),
            "let" => declarations.definitions.push(self.definition()?),
            _ => declarations.functions.push(self.function_declaration()?),
        }
        Some(())
    }

    fn not_an_item(&mut self) {
        let error = self.expected("an item of the property");
        let similar = match self.kind() {
            TokenKind::Word => suggest(self.text(), ITEMS.iter().copied()),
            _ => None,
        };
        let error = match self.kind() {
            TokenKind::Sign(Sign::OpenBrace) => {
                error.help("a property has no braces: its items follow its name")
            }
            _ if self.is_word("on") => error.help("transitions belong in the braces of a state"),
            _ if self.is_word("use") => error.help("`use` must come before the first property"),
            _ if let Some(demand) = self.demand_ahead() => {
                error.help(format!("a demand begins with a keyword: `{demand} …`"))
            }
            _ if similar.is_some() => error.did_you_mean(similar),
            _ => error.help(
                "items: `slice on`, `for each`, `event`, `proposition`, `var`, `function`, \
                 `state`, `let`, `ltl`, `pattern`, `never`, `matches`",
            ),
        };
        self.report(error);
    }

    /// Returns how a formula or pattern without its keyword should begin, if one begins here.
    fn demand_ahead(&self) -> Option<String> {
        if self.kind() != TokenKind::Word {
            return None;
        }
        let (word, next) = (self.text(), self.text_ahead(1));
        match (word, next) {
            _ if self.begins_formula() => Some(format!("ltl {word}")),
            ("absence" | "universality" | "existence", "of") => Some(format!("pattern {word} of")),
            (_, "responds" | "precedes") => Some(format!("pattern {word} {next}")),
            _ if goes_on(next) => Some(format!("ltl {word} {next}")),
            _ => None,
        }
    }

    fn slice(&mut self, property: &mut PropertyDeclaration) -> Option<()> {
        self.advance();
        if !self.take_word("on") {
            let error = self.expected("`on` after `slice`");
            self.report(error);
            return None;
        }
        loop {
            let name = self.expect_name("the name of a slice parameter")?;
            property.slice.push(name);
            if !self.take(Sign::Comma) {
                return Some(());
            }
        }
    }

    pub(super) fn variable(&mut self) -> Option<VariableDeclaration> {
        let start = self.start();
        self.advance();
        let name = self.expect_name("the name of a variable")?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        if self.at_next_item() {
            let error = self.expected("the initial value of the variable");
            self.report(error);
            return None;
        }
        let initial = self.expression();
        Some(VariableDeclaration {
            name,
            initial,
            span: self.span_from(start),
        })
    }
}
