//! Async functions of Rust: a function that makes the future, and one that is its body.

use crate::{Function, SymbolFile};

/// The names that rustc gives the type of the future, and its body.
const FUTURE: &str = "::{async_fn_env#";
const BODY: &str = "::{async_fn#";

impl SymbolFile {
    /// Returns the name of the body if a function only makes the future of an async function.
    pub fn async_body(&self, function: &Function) -> Option<String> {
        if !self.is_of_rust(function) {
            return None;
        }
        let result = self.signature(function).ok()??.result.name();
        let number = result.strip_prefix(&*function.name)?.strip_prefix(FUTURE)?;
        Some(format!("{}{BODY}{number}", function.name))
    }

    /// Returns the name of the body of an async function of this name, which was inlined.
    pub fn async_body_named(&self, function: &str) -> Option<String> {
        let body = format!("{function}{BODY}0}}");
        (!self.functions_named(&body).is_empty()).then_some(body)
    }
}
