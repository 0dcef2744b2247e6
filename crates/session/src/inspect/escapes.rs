//! Escape sequences in text that the user types.

/// Replaces the escape sequences in a text.
pub(crate) fn expanded(text: &str) -> String {
    let mut shown = String::new();
    let mut column = 0;
    for c in text.strip_suffix('\n').unwrap_or(text).chars() {
        if c == '\t' {
            let count = 8 - column % 8;
            shown.push_str(&" ".repeat(count));
            column += count;
        } else {
            shown.push(c);
            column = if c == '\n' { 0 } else { column + 1 };
        }
    }
    shown
}
