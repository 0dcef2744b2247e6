//! Looks up `function::variable`: a variable of a function on the stack. The innermost frame among
//! the current one and its callers is used, or else a frame that it has called.

use super::FrameScope;
use juror_symbols::scope_and_name;
use juror_values::error::ValueError;
use juror_values::typed::Typed;

impl FrameScope<'_> {
    /// Returns the variable that a path denotes, or `None` if the path does not begin with the name
    /// of a function.
    pub(super) fn variable_of_function(&self, path: &str) -> Option<Result<Typed, ValueError>> {
        let (function, name) = scope_and_name(path)?;
        let called = self.frames.iter().take(self.level);
        let mut frames = self.frames.iter().skip(self.level).chain(called);
        let Some(frame) = frames.find(|frame| frame.is_called(function)) else {
            let is_function = !super::Scope::overloads(self, function).is_empty();
            let why = format!("`{function}` is not on the stack, so its variables have no values");
            return is_function.then(|| Err(why.into()));
        };
        let found = self.program.local_variable(frame, name);
        Some(match found {
            Some(variable) => Ok(self.program.value_of(frame, &variable)),
            None => Err(format!("there is no `{name}` where `{function}` is on the stack").into()),
        })
    }

    /// Returns why the variable of a function cannot be read without a stack, or `None` if the path
    /// does not begin with the name of a function.
    pub(super) fn only_at_prompt(&self, path: &str) -> Option<String> {
        let (function, name) = scope_and_name(path)?;
        let is_function = !super::Scope::overloads(self, function).is_empty();
        is_function.then(|| {
            format!(
                "`{name}` of `{function}` is read at the prompt alone, where it is on the stack; \
                 `^{name}` is one of the caller"
            )
        })
    }
}
