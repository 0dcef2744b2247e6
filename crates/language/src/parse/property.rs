//! Files, properties and their items, except states.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::suggest::suggest;
use crate::syntax::{
    CaptureDeclaration, EventDeclaration, Expression, ExpressionKind, File, Name,
    PropertyDeclaration, VariableDeclaration,
};
use crate::token::{Sign, TokenKind};
use juror_event::{EventKind, Reach};

const ITEMS: &[&str] = &["slice", "event", "var", "state"];

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
            let error = self.expected("`property`");
            let similar = suggest(self.text(), ["property"]);
            self.report(match similar {
                Some(_) => error.did_you_mean(similar),
                None => error.help("a file begins with `property NAME`"),
            });
            self.advance();
            self.skip_to(|parser| parser.is_word("property"));
        }
        if file.properties.is_empty() && !self.has_errors() {
            let error = Diagnostic::error(
                "no-property",
                0..self.source.len(),
                "there is no property here",
            );
            self.report(error.help("a file begins with `property NAME`"));
        }
        file
    }

    /// Skips tokens up to the first at which `condition` holds.
    pub(super) fn skip_to(&mut self, condition: impl Fn(&Self) -> bool) {
        while self.kind() != TokenKind::End && !condition(self) {
            self.advance();
        }
    }

    /// True where an item or a property begins: the word and a name after it,
    /// since `event` alone may also be a variable.
    pub(super) fn at_item(&self) -> bool {
        self.kind() == TokenKind::Word
            && self.kind_ahead(1) == TokenKind::Word
            && (ITEMS.contains(&self.text()) || self.text() == "property")
    }

    /// True where a function's name is missing and the next item begins. A
    /// function may be called `state`, with an item or more of its event after
    /// it.
    fn at_next_item(&self) -> bool {
        let next = self.token(1).map_or(0..0, |token| token.span.clone());
        let next = self.text_at(next);
        self.at_item() && !ITEMS.contains(&next) && !["in", "returns", "property"].contains(&next)
    }

    fn property(&mut self) -> Option<PropertyDeclaration> {
        let start = self.start();
        let reports = self.reports;
        self.advance();
        let Some(name) = self.expect_name("the name of the property") else {
            self.skip_to(|parser| parser.is_word("property"));
            return None;
        };
        let description =
            (self.kind() == TokenKind::Text).then(|| self.quoted_text().into_boxed_str());
        let mut property = PropertyDeclaration {
            name,
            description,
            slice: Vec::new(),
            events: Vec::new(),
            variables: Vec::new(),
            states: Vec::new(),
            complete: false,
            span: start..start,
        };
        while self.kind() != TokenKind::End && !self.is_word("property") {
            self.item(&mut property);
        }
        property.span = self.span_from(start);
        let spoiled = self.diagnostics.iter().any(|diagnostic| {
            property.span.contains(&diagnostic.span.start) && diagnostic.is_error()
        });
        property.complete = reports == self.reports && !spoiled;
        Some(property)
    }

    /// One item; takes at least one token.
    fn item(&mut self, property: &mut PropertyDeclaration) {
        let done = match self.text() {
            _ if self.take(Sign::Semicolon) => Some(()),
            "slice" => self.slice(property),
            "event" => self.event().map(|event| property.events.push(event)),
            "var" => self
                .variable()
                .map(|variable| property.variables.push(variable)),
            "state" => {
                // Its own recovery stays inside of its braces.
                if let Some(state) = self.state() {
                    property.states.push(state);
                }
                return;
            }
            _ => {
                self.not_an_item();
                self.advance();
                None
            }
        };
        if done.is_none() {
            self.skip_to(Self::at_item);
        }
    }

    fn not_an_item(&mut self) {
        let error = self.expected("`event`, `var`, `state` or `slice on`");
        let similar = match self.kind() {
            TokenKind::Word => suggest(self.text(), ITEMS.iter().copied()),
            _ => None,
        };
        let error = match self.kind() {
            TokenKind::Sign(Sign::OpenBrace) => {
                error.help("a property has no braces: its items follow its name")
            }
            _ if self.is_word("on") => error.help("transitions stand in the braces of a state"),
            _ => error.did_you_mean(similar),
        };
        self.report(error);
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

    fn variable(&mut self) -> Option<VariableDeclaration> {
        let start = self.start();
        self.advance();
        let name = self.expect_name("the name of a variable")?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        let initial = self.expression();
        Some(VariableDeclaration {
            name,
            initial,
            span: self.span_from(start),
        })
    }

    fn event(&mut self) -> Option<EventDeclaration> {
        let start = self.start();
        self.advance();
        let name = self.expect_name("the name of an event")?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        let kind = if self.take_word("before") {
            EventKind::BeforeCall
        } else if self.take_word("after") {
            EventKind::AfterCall
        } else {
            let similar = suggest(self.text(), ["before", "after"]);
            let error = self.expected("`before` or `after`");
            self.report(error.did_you_mean(similar));
            return None;
        };
        let function = self.function()?;
        let mut captures = Vec::new();
        if self.take(Sign::OpenParenthesis) {
            while !self.is(Sign::CloseParenthesis) {
                captures.push(self.capture()?);
                if !self.take(Sign::Comma) {
                    break;
                }
            }
            if !self.expect(Sign::CloseParenthesis) {
                return None;
            }
        }
        if self.is_word("returns") {
            captures.push(self.returned()?);
        }
        let reach = self.reach()?;
        Some(EventDeclaration {
            name,
            kind,
            subject: function,
            captures,
            reach,
            span: self.span_from(start),
        })
    }

    fn function(&mut self) -> Option<Name> {
        let start = self.start();
        if self.kind() == TokenKind::Text {
            let text = self.quoted_text();
            if text.is_empty() {
                let span = self.span_from(start);
                self.report(Diagnostic::error("syntax", span, "a function has a name"));
                return None;
            }
            let span = self.span_from(start);
            return Some(Name {
                text: text.into(),
                span,
            });
        }
        let mut text = String::new();
        loop {
            if self.kind() != TokenKind::Word || (text.is_empty() && self.at_next_item()) {
                let error = self.expected("the name of a function");
                self.report(error.help("odd names stand in quotes: \"operator new\""));
                return None;
            }
            text.push_str(self.text());
            self.advance();
            if !self.take(Sign::PathSeparator) {
                break;
            }
            text.push_str("::");
        }
        Some(Name {
            text: text.into(),
            span: self.span_from(start),
        })
    }

    fn capture(&mut self) -> Option<CaptureDeclaration> {
        let start = self.start();
        let unnamed = matches!(
            self.kind(),
            TokenKind::Sign(Sign::Star | Sign::And | Sign::Caret)
        ) || (self.is_word("arg") && self.kind_ahead(1) == TokenKind::Integer);
        if unnamed {
            let error = self.expected("the name of a parameter");
            self.report(error.help("give what is read a name: `name = …`"));
            return None;
        }
        let name = self.expect_name("the name of a parameter")?;
        let conversion = if self.take(Sign::Colon) {
            Some(self.capture_type()?)
        } else {
            None
        };
        let read = self.take(Sign::Assign).then(|| self.read());
        Some(CaptureDeclaration {
            name,
            conversion,
            read,
            span: self.span_from(start),
        })
    }

    fn returned(&mut self) -> Option<CaptureDeclaration> {
        let start = self.start();
        let word = self.span();
        self.advance();
        let name = self.expect_name("a name for the returned value")?;
        let conversion = if self.take(Sign::Colon) {
            Some(self.capture_type()?)
        } else {
            None
        };
        Some(CaptureDeclaration {
            name,
            conversion,
            read: Some(Expression {
                kind: ExpressionKind::Return,
                span: word,
            }),
            span: self.span_from(start),
        })
    }

    fn reach(&mut self) -> Option<Reach> {
        if !self.take_word("in") {
            return Some(Reach::Anywhere);
        }
        if self.take_word("library") {
            return Some(Reach::Library);
        }
        if self.kind() == TokenKind::Text {
            return Some(Reach::Module(self.quoted_text().into()));
        }
        let error = self.expected("`library` or the file name of a module in quotes");
        self.report(error);
        None
    }
}
