//! The lexer: a line at a time, with what an earlier line has left open.

use crate::cursor::Cursor;
use crate::words::kind_of;
use crate::{Kind, Language, Span};

/// The longest delimiter of a raw string of C++, in bytes.
const DELIMITER_MAX: usize = 16;

/// What a line begins inside of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Within {
    /// Nothing: code.
    #[default]
    Code,
    /// A line comment whose line has ended in a backslash.
    LineComment,
    /// A block comment, with the number of those that are open.
    BlockComment(u32),
    /// A string with escapes.
    String,
    /// A raw string, with the text that ends it.
    RawString(String),
}

/// Reads a file line by line, from its first line on.
#[derive(Debug, Clone)]
pub struct Lexer {
    language: Language,
    within: Within,
    /// The brackets of an attribute that are open.
    brackets: u32,
    /// The line before has ended in a backslash.
    is_continued: bool,
}

fn starts_word(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphabetic()
}

fn continues_word(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric()
}

impl Lexer {
    /// Creates a lexer at the first line of a file.
    pub fn new(language: Language) -> Lexer {
        Lexer {
            language,
            within: Within::Code,
            brackets: 0,
            is_continued: false,
        }
    }

    /// Reads the next line, which is without its end; returns its spans.
    pub fn line(&mut self, line: &str) -> Vec<Span> {
        let mut cursor = Cursor::new(line);
        match std::mem::take(&mut self.within) {
            Within::Code => {}
            Within::LineComment => self.line_comment(&mut cursor, 0),
            Within::BlockComment(open) => self.block_comment(&mut cursor, 0, open),
            Within::String => self.string(&mut cursor, 0),
            Within::RawString(end) => self.raw_string(&mut cursor, 0, end),
        }
        while let Some(character) = cursor.peek() {
            self.token(&mut cursor, character);
        }
        self.is_continued = !self.is_rust() && cursor.is_continued();
        cursor.into_spans()
    }

    fn is_rust(&self) -> bool {
        self.language == Language::Rust
    }

    /// Reads a token, or a character that is in none.
    fn token(&mut self, cursor: &mut Cursor<'_>, first: char) {
        let start = cursor.position();
        let is_number = first.is_ascii_digit()
            || first == '.'
                && !self.is_rust()
                && cursor.peek_after(1).is_some_and(|it| it.is_ascii_digit());
        if cursor.eat("//") {
            self.line_comment(cursor, start);
        } else if cursor.eat("/*") {
            self.block_comment(cursor, start, 1);
        } else if cursor.eat("\"") {
            self.string(cursor, start);
        } else if first == '\'' {
            self.quote(cursor, start);
        } else if self.brackets > 0 {
            self.in_attribute(cursor, first);
        } else if self.begins_attribute(cursor) {
            cursor.mark(start, Kind::Directive);
        } else if first == '#' && !self.is_rust() && cursor.is_first() && !self.is_continued {
            directive(cursor);
        } else if is_number {
            if self.is_rust() {
                number_of_rust(cursor)
            } else {
                number_of_c(cursor)
            }
            cursor.mark(start, Kind::Number);
        } else if starts_word(first) {
            self.word(cursor);
        } else {
            cursor.next();
        }
    }

    /// Reads the rest of a line comment.
    fn line_comment(&mut self, cursor: &mut Cursor<'_>, start: usize) {
        cursor.eat_all();
        cursor.mark(start, Kind::Comment);
        if !self.is_rust() && cursor.is_continued() {
            self.within = Within::LineComment;
        }
    }

    /// Reads the rest of a block comment, or of the line. Those of Rust are nested.
    fn block_comment(&mut self, cursor: &mut Cursor<'_>, start: usize, mut open: u32) {
        while open > 0 && cursor.peek().is_some() {
            if cursor.eat("*/") {
                open -= 1;
            } else if self.is_rust() && cursor.eat("/*") {
                open = open.saturating_add(1);
            } else {
                cursor.next();
                cursor.eat_while(|it| !matches!(it, '*' | '/'));
            }
        }
        cursor.mark(start, Kind::Comment);
        if open > 0 {
            self.within = Within::BlockComment(open);
        }
    }

    /// Reads the rest of a string, or of the line. A string of C that has no end ends with its line.
    fn string(&mut self, cursor: &mut Cursor<'_>, start: usize) {
        let is_closed = eat_quoted(cursor, '"');
        cursor.mark(start, Kind::String);
        if !is_closed && (self.is_rust() || cursor.is_continued()) {
            self.within = Within::String;
        }
    }

    /// Reads the rest of a raw string, or of the line.
    fn raw_string(&mut self, cursor: &mut Cursor<'_>, start: usize, end: String) {
        let is_closed = cursor.eat_through(&end);
        cursor.mark(start, Kind::String);
        if !is_closed {
            self.within = Within::RawString(end);
        }
    }

    /// Reads a character with its quotes; of Rust it may be a lifetime instead, which has no kind.
    fn quote(&mut self, cursor: &mut Cursor<'_>, start: usize) {
        let (first, second) = (cursor.peek_after(1), cursor.peek_after(2));
        let is_lifetime = first.is_some_and(starts_word) && second != Some('\'');
        cursor.next();
        if self.is_rust() && is_lifetime {
            cursor.eat_while(continues_word);
        } else if self.is_rust() && first != Some('\\') && second != Some('\'') {
            // A quote of a macro's pattern.
        } else if self.is_rust() && first == Some('\'') {
            // No character: an error of the program.
            cursor.eat("''");
        } else {
            eat_quoted(cursor, '\'');
            cursor.mark(start, Kind::String);
        }
    }

    /// Reads what is in the brackets of an attribute and no string or comment.
    fn in_attribute(&mut self, cursor: &mut Cursor<'_>, first: char) {
        let start = cursor.position();
        match first {
            '[' => self.brackets = self.brackets.saturating_add(1),
            ']' => self.brackets -= 1,
            // A string may have a prefix.
            _ if starts_word(first) => return self.word(cursor),
            _ => {}
        }
        cursor.next();
        cursor.mark(start, Kind::Directive);
    }

    /// Reads the beginning of an attribute, if one begins: `#[`, `#![`, and `[[` of C and C++.
    fn begins_attribute(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let (signs, brackets): (&[&str], u32) = if self.is_rust() {
            (&["#[", "#!["], 1)
        } else {
            (&["[["], 2)
        };
        let begins = signs.iter().any(|sign| cursor.eat(sign));
        if begins {
            self.brackets = brackets;
        }
        begins
    }

    /// Reads a word, and the string or character that it is the prefix of.
    fn word(&mut self, cursor: &mut Cursor<'_>) {
        let start = cursor.position();
        cursor.eat_while(continues_word);
        let word = cursor.since(start);
        let is_prefix = match self.language {
            Language::C | Language::Cpp => matches!(word, "L" | "u" | "U" | "u8"),
            Language::Rust => matches!(word, "b" | "c"),
        };
        let is_raw = match self.language {
            Language::C => false,
            Language::Cpp => matches!(word, "R" | "LR" | "uR" | "UR" | "u8R"),
            Language::Rust => matches!(word, "r" | "br" | "cr"),
        };
        if is_prefix && cursor.eat("\"") {
            return self.string(cursor, start);
        }
        if is_prefix && word != "c" && cursor.eat("'") {
            eat_quoted(cursor, '\'');
            return cursor.mark(start, Kind::String);
        }
        if is_raw && let Some(end) = self.raw_end(cursor) {
            return self.raw_string(cursor, start, end);
        }
        if self.is_rust() && word == "r" && cursor.eat("#") {
            // A raw name is no keyword.
            return cursor.eat_while(continues_word);
        }
        let kind = match self.brackets {
            0 => kind_of(self.language, word),
            _ => Some(Kind::Directive),
        };
        if let Some(kind) = kind {
            cursor.mark(start, kind);
        }
    }

    /// Reads the beginning of a raw string behind its prefix; returns the text that ends it. None if
    /// there is no raw string.
    fn raw_end(&self, cursor: &mut Cursor<'_>) -> Option<String> {
        let rest = cursor.rest();
        if self.is_rust() {
            let count = rest.find(|it| it != '#')?;
            let hashes = rest.get(..count)?;
            return cursor
                .eat(&format!("{hashes}\""))
                .then(|| format!("\"{hashes}"));
        }
        let inside = rest.strip_prefix('"')?;
        let is_wrong = |it: char| it.is_whitespace() || matches!(it, ')' | '\\' | '"');
        let is_end = |it: char| it == '(' || is_wrong(it);
        let length = inside.find(is_end)?;
        let delimiter = inside.get(..length)?;
        if length > DELIMITER_MAX || !inside.get(length..)?.starts_with('(') {
            return None;
        }
        cursor.eat(&format!("\"{delimiter}("));
        Some(format!("){delimiter}\""))
    }
}

/// Reads to the quote that ends a string or a character, or to the end of the line. Returns whether
/// there is one.
fn eat_quoted(cursor: &mut Cursor<'_>, quote: char) -> bool {
    while let Some(character) = cursor.next() {
        if character == quote {
            return true;
        }
        if character == '\\' {
            cursor.next();
        }
    }
    false
}

/// Reads the word of a preprocessor directive, and the file that it names in angle brackets.
fn directive(cursor: &mut Cursor<'_>) {
    let start = cursor.position();
    cursor.next();
    cursor.eat_while(char::is_whitespace);
    let word = cursor.position();
    cursor.eat_while(continues_word);
    let names_file = matches!(
        cursor.since(word),
        "include" | "include_next" | "import" | "embed"
    );
    cursor.mark(start, Kind::Directive);
    if names_file {
        cursor.eat_while(char::is_whitespace);
        let start = cursor.position();
        if cursor.peek() == Some('<') && cursor.eat_through(">") {
            cursor.mark(start, Kind::String);
        }
    }
}

/// Reads a number of C or C++, as the preprocessor takes it: with separators and suffixes.
fn number_of_c(cursor: &mut Cursor<'_>) {
    let is_hexadecimal = cursor.rest().starts_with("0x") || cursor.rest().starts_with("0X");
    while let Some(character) = cursor.peek() {
        let follows = cursor.peek_after(1);
        let has_sign = match character {
            'p' | 'P' => true,
            'e' | 'E' => !is_hexadecimal,
            _ => false,
        };
        match character {
            '\'' if follows.is_some_and(|it| it.is_ascii_alphanumeric()) => {}
            '.' | '_' => {}
            _ if character.is_alphanumeric() => {}
            _ => return,
        }
        cursor.next();
        if has_sign && matches!(follows, Some('+' | '-')) {
            cursor.next();
        }
    }
}

/// Reads a number of Rust: `1..2` is two, and `1.max(2)` a call.
fn number_of_rust(cursor: &mut Cursor<'_>) {
    let digits = |it: char| it.is_ascii_digit() || it == '_';
    let has_radix = ["0x", "0o", "0b"].iter().any(|it| cursor.eat(it));
    if !has_radix {
        cursor.eat_while(digits);
        let follows = cursor.peek_after(1);
        let is_point = !follows.is_some_and(|it| it == '.' || starts_word(it));
        if is_point && cursor.eat(".") {
            cursor.eat_while(digits);
        }
        let is_exponent = matches!(cursor.peek(), Some('e' | 'E'));
        if is_exponent && matches!(cursor.peek_after(1), Some('+' | '-')) {
            cursor.next();
            cursor.next();
        }
    }
    cursor.eat_while(continues_word);
}
