//! Messages about variables that only the symbol table knows.

use juror_symbols::Type;

/// Returns the message that a variable of this type cannot be read, if its type is not known.
pub fn unknown_type(r#type: &Type) -> Option<String> {
    let (name, _) = r#type.untyped_symbol()?;
    Some(format!(
        "`{name}` has no debug information, so its type is not known: cast it to its declared \
         type, as in (int){name}, or in *(int *)&{name}"
    ))
}

/// Returns the message that a value of `size` bytes is not what the variable is, or `None` if it
/// may be.
pub fn other_size(r#type: &Type, size: u64, named: &str) -> Option<String> {
    let (name, known) = r#type.untyped_symbol()?;
    (known != 0 && known != size)
        .then(|| format!("`{name}` has {known} bytes, and a value of type `{named}` has {size}"))
}
