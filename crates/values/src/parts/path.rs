//! The expression of a value, composed from that of the value that contains it.
//!
//! Invariant: the text can be evaluated at the prompt, or there is no text. The caller checks
//! whether it gives the value if another name may hide one in it.

use crate::typed::{Memory, Typed};
use juror_symbols::Type;
use std::sync::Arc;

/// The expression of a value.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// The expression; none if no expression gives the value.
    text: Option<Written>,
    /// The object around a base class or an anonymous member, by which its members are named.
    around: Option<Arc<Around>>,
}

/// An expression, with the properties that continuing it depends on.
#[derive(Debug, Clone)]
struct Written {
    text: String,
    binding: Binding,
    /// The pointer that the expression dereferences: `p` of `*p`.
    pointer: Option<Box<Written>>,
}

/// The operators that bind to the whole of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding {
    /// A suffix and a prefix.
    Postfix,
    /// A prefix.
    Prefix,
    /// Neither.
    None,
}

/// The object that a base class or an anonymous member is a part of.
#[derive(Debug)]
struct Around {
    object: Typed,
    path: Path,
    /// The base class; none for an anonymous member of the object itself.
    class: Option<String>,
}

impl Written {
    fn postfix(text: String) -> Written {
        Written {
            text,
            binding: Binding::Postfix,
            pointer: None,
        }
    }

    /// Returns the text, in parentheses if a suffix would bind to a part of it.
    fn before_suffix(&self) -> String {
        match self.binding {
            Binding::Postfix => self.text.clone(),
            Binding::Prefix | Binding::None => format!("({})", self.text),
        }
    }

    /// Returns the text, in parentheses if a prefix would bind to a part of it.
    fn after_prefix(&self) -> String {
        match self.binding {
            Binding::Postfix | Binding::Prefix => self.text.clone(),
            Binding::None => format!("({})", self.text),
        }
    }
}

impl Path {
    /// Returns the path of an expression as the user wrote it. If `is_postfix` is set, a suffix
    /// binds to the whole expression.
    pub fn new(text: impl Into<String>, is_postfix: bool) -> Path {
        let text = text.into();
        Path {
            text: Some(Written {
                text,
                binding: if is_postfix {
                    Binding::Postfix
                } else {
                    Binding::None
                },
                pointer: None,
            }),
            around: None,
        }
    }

    /// Returns the expression.
    pub fn text(&self) -> Option<&str> {
        Some(&self.text.as_ref()?.text)
    }

    /// Returns the path without the expression, which does not give the value.
    pub fn without_text(self) -> Path {
        Path { text: None, ..self }
    }

    /// Returns the path of the same value by its address, for names that do not give it.
    pub fn at_address(&self, r#type: &Type, address: u64) -> Path {
        let text = format!("*({} *){address:#x}", r#type.name());
        Path {
            text: Some(Written {
                text,
                binding: Binding::Prefix,
                pointer: None,
            }),
            around: self.around.clone(),
        }
    }

    fn written(text: Option<Written>) -> Path {
        Path { text, around: None }
    }

    /// Returns the path of the target of a pointer, or of the value in a library type.
    pub(super) fn target(&self) -> Path {
        Path::written(self.text.as_ref().map(|pointer| Written {
            text: format!("*{}", pointer.after_prefix()),
            binding: Binding::Prefix,
            pointer: Some(Box::new(pointer.clone())),
        }))
    }

    /// Returns the path of an element.
    pub(super) fn element(&self, index: i128) -> Path {
        self.with_suffix(&format!("[{index}]"))
    }

    /// Returns the path of the value of a key; `key` is the key as the prompt reads it.
    pub(super) fn entry(&self, key: Option<&str>) -> Path {
        key.map_or_else(Path::default, |key| self.with_suffix(&format!("[{key}]")))
    }

    fn with_suffix(&self, suffix: &str) -> Path {
        let text = self.text.as_ref();
        let text = text.map(|it| Written::postfix(format!("{}{suffix}", it.before_suffix())));
        Path::written(text)
    }

    /// Returns the path of a member of a value.
    pub(super) fn member(
        &self,
        name: &str,
        part: &Typed,
        is_rust: bool,
        memory: &dyn Memory,
    ) -> Path {
        let Some(around) = &self.around else {
            return self.field(name, is_rust);
        };
        let by_name = around.object.field(name, memory);
        let is_it = by_name.is_ok_and(|found| is_same(&found, part));
        match (is_it, &around.class) {
            (true, _) => around.path.field(name, is_rust),
            (false, Some(class)) => around.path.field(&format!("{class}::{name}"), is_rust),
            (false, None) => Path::default(),
        }
    }

    fn field(&self, name: &str, is_rust: bool) -> Path {
        let Some(object) = &self.text else {
            return Path::default();
        };
        let text = match &object.pointer {
            // In Rust a field of a pointer's target is reached through the pointer.
            Some(pointer) if is_rust => format!("{}.{name}", before_field(pointer, name)),
            Some(pointer) => format!("{}->{name}", pointer.before_suffix()),
            None => format!("{}.{name}", before_field(object, name)),
        };
        Path::written(Some(Written::postfix(text)))
    }

    /// Returns the path of an object cast to another class: the complete object, or a base class.
    pub(super) fn seen_as(&self, class: &Type) -> Path {
        let name = class.strip().name();
        let pointer = self.text.as_ref().map(|it| Written {
            text: match &it.pointer {
                Some(pointer) => format!("({name} *){}", pointer.after_prefix()),
                None => format!("({name} *)&{}", it.after_prefix()),
            },
            binding: Binding::Prefix,
            pointer: None,
        });
        Path::written(pointer).target()
    }

    /// Returns the path of a base class of an object.
    pub(super) fn base(&self, object: &Typed, class: &Type) -> Path {
        let around = Around {
            object: self.around.as_ref().map_or(object, |it| &it.object).clone(),
            path: self.around.as_ref().map_or(self, |it| &it.path).clone(),
            class: Some(class.strip().name()),
        };
        // An expression of a part with a table shows the whole object.
        let text = if class.has_vtable() {
            None
        } else {
            around.path.seen_as(class).text
        };
        Path {
            text,
            around: Some(Arc::new(around)),
        }
    }

    /// Returns the path of an anonymous member, whose members are those of the object.
    pub(super) fn anonymous(&self, object: &Typed) -> Path {
        let around = self.around.clone();
        Path {
            text: None,
            around: Some(around.unwrap_or_else(|| {
                Arc::new(Around {
                    object: object.clone(),
                    path: self.clone(),
                    class: None,
                })
            })),
        }
    }
}

/// Returns the object before a dot. Two positions in a row would be read as a fraction.
fn before_field(object: &Written, name: &str) -> String {
    let is_position = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let last = object.text.rsplit('.').next().unwrap_or_default();
    if is_position(name) && is_position(last) && object.text.contains('.') {
        format!("({})", object.text)
    } else {
        object.before_suffix()
    }
}

/// Returns whether both are one place with one type.
fn is_same(a: &Typed, b: &Typed) -> bool {
    a.location == b.location && a.bits == b.bits && a.r#type.name() == b.r#type.name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &Path, expected: &str) {
        assert_eq!(path.text(), Some(expected));
    }

    #[test]
    fn suffixes_bind_to_the_whole_expression() {
        let p = Path::new("p", true);
        check(&p.target(), "*p");
        check(&p.target().field("f", false), "p->f");
        check(&p.target().field("f", true), "p.f");
        check(&p.target().element(3), "(*p)[3]");
        check(&p.target().target(), "**p");
        check(&p.target().target().field("f", false), "(*p)->f");
        check(&p.element(1).element(2).field("f", false), "p[1][2].f");
        check(&p.entry(Some("\"ham\"")), "p[\"ham\"]");
        assert_eq!(p.entry(None).element(1).text(), None);
        let sum = Path::new("p + 1", false);
        check(&sum.element(0), "(p + 1)[0]");
        check(&sum.target(), "*(p + 1)");
        check(&sum.target().field("f", false), "(p + 1)->f");
    }

    #[test]
    fn positions_are_not_read_as_a_fraction() {
        let first = Path::new("t", true).field("0", true);
        check(&first, "t.0");
        check(&first.field("1", true), "(t.0).1");
        check(&first.field("1", true).field("2", true), "((t.0).1).2");
        check(&first.field("x", true), "t.0.x");
    }

    #[test]
    fn objects_are_seen_as_other_classes() {
        let class = Type::builtin("int").expect("a type");
        let seen = Path::new("x", true).seen_as(&class);
        check(&seen, "*(int *)&x");
        check(&seen.field("f", false), "((int *)&x)->f");
        let behind = Path::new("p", true).target().seen_as(&class);
        check(&behind, "*(int *)p");
        check(&behind.at_address(&class, 16), "*(int *)0x10");
    }
}
