//! Parser of events: kind, subject and captures.

use super::Parser;
use crate::suggest::suggest;
use crate::syntax::{
    CaptureDeclaration, EventDeclaration, EventReference, Expression, ExpressionKind, Name,
};
use crate::token::{Sign, TokenKind};
use juror_event::{EventKind, Reach};
use juror_fault::Diagnostic;

/// The words that begin an event.
const EVENT_WORDS: &[&str] = &[
    "before", "after", "unwound", "read", "write", "change", "access", "entry", "exit", "signal",
    "thread", "module", "line", "program",
];

/// The words that begin the next clause of a proposition.
const CLAUSE_WORDS: &[&str] = &["set", "cleared", "pulse", "when"];

/// An event without its name.
struct Specification {
    kind: EventKind,
    subject: Name,
    place: Option<Expression>,
    captures: Vec<CaptureDeclaration>,
    reach: Reach,
}

impl Parser<'_> {
    /// `event name = …`
    pub(super) fn event(&mut self) -> Option<EventDeclaration> {
        let start = self.start();
        self.advance();
        let name = self.expect_name("the name of an event")?;
        if !self.expect(Sign::Assign) {
            return None;
        }
        let found = self.specification()?;
        Some(self.declared(name, found, start))
    }

    fn declared(&self, name: Name, found: Specification, start: usize) -> EventDeclaration {
        EventDeclaration {
            name,
            kind: found.kind,
            subject: found.subject,
            place: found.place,
            captures: found.captures,
            reach: found.reach,
            span: self.span_from(start),
        }
    }

    /// Parses a reference to an event, by name or inline.
    pub(super) fn event_reference(&mut self) -> Option<EventReference> {
        if !self.at_specification() {
            let name = self.expect_name("an event")?;
            return Some(EventReference::Named(name));
        }
        let start = self.start();
        let found = self.specification()?;
        let text = match &*found.subject.text {
            "" => found.kind.word().to_owned(),
            subject => format!("{} {subject}", found.kind.word()),
        };
        let name = Name {
            text: text.into(),
            span: self.span_from(start),
        };
        let event = self.declared(name, found, start);
        Some(EventReference::Inline(Box::new(event)))
    }

    /// Returns true if an inline event begins here, and not the name of an event that
    /// is called `read`, for example.
    fn at_specification(&self) -> bool {
        if self.kind() != TokenKind::Word {
            return false;
        }
        let next = self.text_ahead(1);
        match self.text() {
            "signal" => true,
            "thread" => matches!(next, "start" | "end"),
            "module" => matches!(next, "load" | "unload"),
            "program" => matches!(next, "start" | "exit"),
            "line" => self.kind_ahead(1) == TokenKind::Text,
            word if EVENT_WORDS.contains(&word) => match self.kind_ahead(1) {
                TokenKind::Word => !CLAUSE_WORDS.contains(&next) && !self.at_item_ahead(1),
                TokenKind::Text | TokenKind::Integer => true,
                TokenKind::Sign(sign) => matches!(sign, Sign::Star | Sign::PathSeparator),
                _ => false,
            },
            _ => false,
        }
    }

    fn specification(&mut self) -> Option<Specification> {
        let kind = self.event_kind()?;
        let mut place = None;
        let subject = match kind {
            EventKind::BeforeCall | EventKind::AfterCall | EventKind::Unwound => self.function()?,
            EventKind::Read | EventKind::Write | EventKind::Change | EventKind::Access => {
                let (name, expression) = self.watched_location()?;
                place = Some(expression);
                name
            }
            EventKind::SystemCallEntry | EventKind::SystemCallExit => self.system_call()?,
            EventKind::Signal => self.signal_name(),
            EventKind::ModuleLoad | EventKind::ModuleUnload => self.optional_text(),
            EventKind::Line => self.line()?,
            EventKind::ThreadStart
            | EventKind::ThreadEnd
            | EventKind::ProgramStart
            | EventKind::ProgramExit => self.no_subject(),
        };
        let captures = self.captures()?;
        let placed = kind.is_call() || place.is_some();
        Some(Specification {
            kind,
            subject,
            place,
            captures,
            reach: if placed {
                self.reach()?
            } else {
                Reach::Anywhere
            },
        })
    }

    fn event_kind(&mut self) -> Option<EventKind> {
        let word = self.text();
        let kind = match word {
            "before" => EventKind::BeforeCall,
            "after" => EventKind::AfterCall,
            "unwound" => EventKind::Unwound,
            "read" => EventKind::Read,
            "write" => EventKind::Write,
            "change" => EventKind::Change,
            "access" => EventKind::Access,
            "entry" => EventKind::SystemCallEntry,
            "exit" => EventKind::SystemCallExit,
            "signal" => EventKind::Signal,
            "line" => EventKind::Line,
            "thread" => {
                return self.moment(&[
                    ("start", EventKind::ThreadStart),
                    ("end", EventKind::ThreadEnd),
                ]);
            }
            "module" => {
                return self.moment(&[
                    ("load", EventKind::ModuleLoad),
                    ("unload", EventKind::ModuleUnload),
                ]);
            }
            "program" => {
                return self.moment(&[
                    ("start", EventKind::ProgramStart),
                    ("exit", EventKind::ProgramExit),
                ]);
            }
            _ => {
                let similar = match self.kind() {
                    TokenKind::Word => suggest(word, EVENT_WORDS.iter().copied()),
                    _ => None,
                };
                let error = self.expected("an event");
                self.report(match similar {
                    Some(_) => error.did_you_mean(similar),
                    None => error.help(
                        "events: `before` and `after` a call, `unwound`, `read`, `write`, \
                         `change`, `access` of a location, `entry` and `exit` of a system call, \
                         `signal`, `thread start`, `thread end`, `module load`, `module unload`, \
                         `line`, `program start`, `program exit`",
                    ),
                });
                return None;
            }
        };
        self.advance();
        Some(kind)
    }

    /// Parses the second word of an event kind with two words.
    fn moment(&mut self, known: &[(&str, EventKind)]) -> Option<EventKind> {
        self.advance();
        let text = self.text();
        let found = known.iter().find(|(word, _)| *word == text);
        match found {
            Some((_, kind)) => {
                self.advance();
                Some(*kind)
            }
            None => {
                let words: Vec<String> = known.iter().map(|(w, _)| format!("`{w}`")).collect();
                let error = self.expected(&words.join(" or "));
                self.report(error);
                None
            }
        }
    }

    fn no_subject(&self) -> Name {
        Name {
            text: "".into(),
            span: self.span_from(self.start().saturating_sub(1)),
        }
    }

    /// Parses the watched location; returns it also as text without spaces.
    fn watched_location(&mut self) -> Option<(Name, Expression)> {
        let start = self.start();
        let first = self.position;
        let reports = self.reports;
        if self.at_next_item() {
            let error =
                self.expected("a location: a variable, a field, `values[0..8]`, `*pointer`");
            self.report(error);
            return None;
        }
        let place = self.subject_expression();
        if reports != self.reports {
            return None;
        }
        let tokens = self.tokens.get(first..self.position).unwrap_or(&[]);
        let mut text = String::new();
        let mut after_word = false;
        for token in tokens {
            let is_word = matches!(token.kind, TokenKind::Word | TokenKind::Integer);
            if after_word && is_word {
                text.push(' ');
            }
            text.push_str(self.text_at(token.span.clone()));
            after_word = is_word;
        }
        let name = Name {
            text: text.into(),
            span: self.span_from(start),
        };
        Some((name, place))
    }

    fn taken_name(&mut self) -> Name {
        let name = Name {
            text: self.text().into(),
            span: self.span(),
        };
        self.advance();
        name
    }

    fn system_call(&mut self) -> Option<Name> {
        match self.kind() {
            TokenKind::Word if !self.at_next_item() => Some(self.taken_name()),
            TokenKind::Integer => {
                let span = self.span();
                match self.integer() {
                    ExpressionKind::Integer(number) => Some(Name {
                        text: number.to_string().into(),
                        span,
                    }),
                    _ => None,
                }
            }
            _ => {
                let error = self.expected("the name or number of a system call");
                self.report(error);
                None
            }
        }
    }

    /// Parses `SIGUSR1`, a number, or nothing for any signal.
    fn signal_name(&mut self) -> Name {
        let named = self.kind() == TokenKind::Word && self.text().starts_with("SIG");
        if named || self.kind() == TokenKind::Integer {
            return self.taken_name();
        }
        self.optional_text()
    }

    fn optional_text(&mut self) -> Name {
        if self.kind() != TokenKind::Text {
            return self.no_subject();
        }
        let span = self.span();
        Name {
            text: self.quoted_text().into(),
            span,
        }
    }

    /// `"queue.c:42"`
    fn line(&mut self) -> Option<Name> {
        if self.kind() != TokenKind::Text {
            let error = self.expected("a line in quotes: \"queue.c:42\"");
            self.report(error);
            return None;
        }
        let span = self.span();
        let text = self.quoted_text();
        let line = text.rsplit_once(':').filter(|(file, line)| {
            !file.is_empty() && line.parse::<u32>().is_ok_and(|number| number > 0)
        });
        if line.is_none() {
            self.report(
                Diagnostic::error("bad-line", span, "this is not a line of a file")
                    .help("write the file and the line number: \"queue.c:42\""),
            );
            return None;
        }
        Some(Name {
            text: text.into(),
            span,
        })
    }

    fn function(&mut self) -> Option<Name> {
        let start = self.start();
        if self.kind() == TokenKind::Text {
            let text = self.quoted_text();
            if text.is_empty() {
                let span = self.span_from(start);
                self.report(Diagnostic::error(
                    "syntax",
                    span,
                    "expected the name of a function",
                ));
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
                self.report(error.help("quote unusual names: \"operator new\""));
                return None;
            }
            text.push_str(self.text());
            self.advance();
            if !self.take(Sign::PathSeparator) {
                break;
            }
            text.push_str("::");
        }
        let span = self.span_from(start);
        if self.is(Sign::Less) {
            let help = format!("for example: \"{text}<int>::..\"");
            let message = "a name with template arguments must be in quotes";
            self.report(Diagnostic::error("syntax", span, message).help(help));
            return None;
        }
        Some(Name {
            text: text.into(),
            span,
        })
    }
}
