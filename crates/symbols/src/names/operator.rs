//! Names of operators, whose symbols look like the brackets of template arguments.

/// The symbols of operators, longest first.
const SIGNS: &[&str] = &[
    "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&",
    "|", "~", "!", "=", "<", ">", ",",
];

/// Returns whether a component is the name of an operator, with everything after it.
pub(super) fn is_operator(component: &str) -> bool {
    let next = component
        .strip_prefix("operator")
        .and_then(|rest| rest.chars().next());
    next.is_some_and(|next| !next.is_alphanumeric() && next != '_')
}

/// Returns the end of the symbol in an operator's name; template arguments and parameters
/// may follow. `None` for other names, and for operators named by words: conversions,
/// `new`, `delete`.
pub(super) fn sign_end(component: &str) -> Option<usize> {
    let behind = component.strip_prefix("operator")?;
    let signs = SIGNS.iter().filter(|sign| behind.starts_with(**sign));
    let mut ends = signs.map(|sign| "operator".len() + sign.len());
    // `operator<<int>` is `operator<` with a template argument.
    ends.find(|end| {
        let rest = component.get(*end..).unwrap_or("").trim_start();
        // A method may have qualifiers: `operator() const`.
        rest.is_empty()
            || rest.starts_with(['<', '(', ':', '[', '.'])
            || ["const", "volatile"].iter().any(|it| rest.starts_with(it))
    })
}
