//! Names of operators, whose signs look like the brackets of template arguments.

/// The signs that operators have, the longer ones first.
const SIGNS: &[&str] = &[
    "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&",
    "|", "~", "!", "=", "<", ">", ",",
];

/// Whether a component is the name of an operator, with all that follows it.
pub(super) fn is_operator(component: &str) -> bool {
    let next = component
        .strip_prefix("operator")
        .and_then(|rest| rest.chars().next());
    next.is_some_and(|next| !next.is_alphanumeric() && next != '_')
}

/// Where the sign ends by which an operator is called: what follows are its template
/// arguments and parameters, if there are any. `None` for other names, and for operators
/// that are called by words: conversions, `new`, `delete`.
pub(super) fn sign_end(component: &str) -> Option<usize> {
    let behind = component.strip_prefix("operator")?;
    let signs = SIGNS.iter().filter(|sign| behind.starts_with(**sign));
    let mut ends = signs.map(|sign| "operator".len() + sign.len());
    // `operator<<int>` is `operator<` of a type.
    ends.find(|end| {
        let rest = component.get(*end..).unwrap_or("").trim_start();
        rest.is_empty() || rest.starts_with(['<', '(', ':', '[', '.'])
    })
}
