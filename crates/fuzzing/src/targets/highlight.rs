//! Arbitrary source files: a byte that chooses the language, then the file.

use juror_highlight::{Highlighter, Language, Lexer, pieces};

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else {
        return;
    };
    let language = match choice % 3 {
        0 => Language::C,
        1 => Language::Cpp,
        _ => Language::Rust,
    };
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut lexer = Lexer::new(language);
    let whole: Vec<_> = lines.iter().map(|line| lexer.line(line)).collect();
    for (line, spans) in lines.iter().zip(&whole) {
        let mut end = 0;
        for span in spans {
            assert!(end <= span.start && span.start < span.end, "spans overlap");
            assert!(line.get(span.start..span.end).is_some(), "a span is cut");
            end = span.end;
        }
        let joined: String = pieces(line, spans).iter().map(|it| it.1).collect();
        assert_eq!(joined, *line, "the line has changed");
    }
    // From the end on, a part of the lines is as if all had been read.
    let first = lines.len() / 2;
    let found = Highlighter::new(language).spans(&lines, first, lines.len());
    assert_eq!(found, whole[first..], "a part differs");
}
