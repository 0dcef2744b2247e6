//! Formats the definition of a type in its language: fields, base classes, variants, enumerators.
//! With offsets, each member has its offset and size, and holes between members are shown.

use juror_symbols::{
    Access, ClassMember, ClassMemberKind, Composite, CompositeKind, Field, Type, TypeKind,
    VariantPart,
};
use std::fmt::Write;

/// The most members or enumerators of one type that are written.
const MEMBERS_MAX: usize = 2_000;
/// The greatest depth of typedefs, pointers and nested types: damaged files can describe endless
/// ones.
const DEPTH_MAX: usize = 32;

/// The placeholder for the members in the name of an unnamed type.
const NAMELESS: &str = "{...}";

/// Formats the definition of a type; for a pointer or an array, the definition of its target. A
/// type without a definition is written as its name.
pub fn definition(r#type: &Type, with_offsets: bool) -> String {
    defined(r#type, with_offsets, DEPTH_MAX)
}

fn defined(r#type: &Type, with_offsets: bool, depth: usize) -> String {
    // Typedefs and qualifiers are resolved until a definition is found.
    let mut inner = r#type.clone();
    let mut around = String::new();
    for _ in 0..depth {
        match inner.kind() {
            TypeKind::Typedef(to) | TypeKind::Qualified(to) => inner = to,
            TypeKind::Const(to) => {
                around.insert_str(0, " const");
                inner = to;
            }
            TypeKind::Volatile(to) => {
                around.insert_str(0, " volatile");
                inner = to;
            }
            TypeKind::Pointer(to) if is_defined(&to) => {
                around.insert_str(0, " *");
                inner = to;
            }
            TypeKind::Reference(to) if is_defined(&to) => {
                around.insert_str(0, " &");
                inner = to;
            }
            TypeKind::Composite(composite) => {
                let mut text = composite_text(&inner, &composite, with_offsets, depth);
                text.push_str(&around);
                if with_offsets && let Some(size) = inner.size() {
                    let _ = write!(text, "  /* {} */", amount(size * 8));
                }
                return text;
            }
            TypeKind::Enumeration { enumerators, .. } => {
                let mut text = format!("{} {{", headed("enum", &inner.name()));
                let mut next = 0;
                for (position, enumerator) in enumerators.iter().take(MEMBERS_MAX).enumerate() {
                    text.push_str(if position == 0 { "" } else { ", " });
                    text.push_str(&enumerator.name);
                    if enumerator.value != next {
                        let _ = write!(text, " = {}", enumerator.value);
                    }
                    next = enumerator.value.saturating_add(1);
                }
                text.push('}');
                text.push_str(&around);
                return text;
            }
            _ => break,
        }
    }
    format!("{}{around}", inner.name())
}

/// Returns whether a type leads to a structure or enumeration through names and pointers.
fn is_defined(r#type: &Type) -> bool {
    let mut inner = r#type.strip();
    for _ in 0..DEPTH_MAX {
        match inner.kind() {
            TypeKind::Pointer(to) | TypeKind::Reference(to) => inner = to.strip(),
            _ => break,
        }
    }
    matches!(
        inner.kind(),
        TypeKind::Composite(_) | TypeKind::Enumeration { .. }
    )
}

/// Returns a type's name with its keyword in front, once; the keyword alone for an unnamed type.
fn headed(word: &str, name: &str) -> String {
    let name = name.strip_suffix(NAMELESS).map_or(name, str::trim_end);
    match name.strip_prefix(word) {
        Some(rest) if rest.is_empty() || rest.starts_with(' ') => name.to_owned(),
        None if name.is_empty() => word.to_owned(),
        _ => format!("{word} {name}"),
    }
}

fn composite_text(
    r#type: &Type,
    composite: &Composite,
    with_offsets: bool,
    depth: usize,
) -> String {
    let is_rust = r#type.is_rust();
    let word = match composite.kind {
        _ if composite.variants.is_some() => "enum",
        CompositeKind::Union => "union",
        CompositeKind::Class => "class",
        CompositeKind::Struct => "struct",
    };
    let mut text = headed(word, &r#type.name());
    for (position, base) in composite.bases.iter().enumerate() {
        text.push_str(if position == 0 { " : " } else { ", " });
        text.push_str(base.access.word());
        text.push(' ');
        if base.offset.is_none() {
            text.push_str("virtual ");
        }
        text.push_str(&base.r#type.name());
    }
    if composite.incomplete {
        text.push_str(" {...}, which is defined elsewhere");
        if let Some(file) = r#type.declared_in() {
            text.push_str("; it is declared in ");
            text.push_str(&file);
        }
        return text;
    }
    text.push_str(" {\n");
    if composite.by_abi.is_some() {
        text.push_str("    // only declared; the members are those of libstdc++'s ABI\n");
    }
    let mut layout = Layout {
        text,
        with_offsets,
        is_rust,
        end: 0,
        depth: depth.saturating_sub(1),
    };
    for base in composite.bases.iter().filter(|_| with_offsets) {
        if let (Some(offset), Some(size)) = (base.offset, base.r#type.size()) {
            layout.end = layout.end.max((offset + size) * 8);
        }
    }
    // With offsets only the data layout is shown, without functions.
    let members = if is_rust || with_offsets {
        Vec::new()
    } else {
        r#type.class_members()
    };
    let is_class = composite.kind == CompositeKind::Class && !members.is_empty();
    if is_class || members.iter().any(ClassMember::is_of_class) {
        layout.class(&members, composite.kind);
    } else {
        for field in composite.fields.iter().take(MEMBERS_MAX) {
            layout.member(field, composite.kind == CompositeKind::Union);
        }
    }
    if let Some(part) = &composite.variants {
        layout.variants(part);
    }
    layout.close(r#type.size(), composite)
}

/// The definition that is being written.
struct Layout {
    text: String,
    with_offsets: bool,
    is_rust: bool,
    /// The end of the members so far, in bits.
    end: u64,
    /// The number of levels that types may still be nested.
    depth: usize,
}

impl Layout {
    fn member(&mut self, field: &Field, is_union: bool) {
        let name = field.name.as_deref();
        let line = match (name, self.is_rust) {
            (Some(name), true) => format!("{name}: {},", field.r#type.name()),
            (Some(name), false) => format!("{};", self.declared(field, name)),
            // An anonymous struct or union is written in place.
            (None, _) => format!("{};", self.inner(&field.r#type)),
        };
        if self.with_offsets {
            let (offset_bits, size_bits) = extent(field);
            if !is_union && offset_bits > self.end {
                let hole = offset_bits - self.end;
                self.line(&format!("/* a hole of {} */", amount(hole)));
            }
            self.end = self.end.max(offset_bits + size_bits);
            let position = match field.bits {
                Some(_) => format!("{}:{}", offset_bits / 8, offset_bits % 8),
                None => (offset_bits / 8).to_string(),
            };
            self.line(&format!(
                "{line:<40} /* at {position}, {} */",
                amount(size_bits)
            ));
        } else {
            self.line(&line);
        }
    }

    /// Formats the definition of an unnamed type in place.
    fn inner(&self, r#type: &Type) -> String {
        defined(r#type, false, self.depth).replace('\n', "\n    ")
    }

    /// Formats the declaration of a member in C, with the width of a bit field. An unnamed type is
    /// written with its members, up to the depth limit.
    fn declared(&self, field: &Field, name: &str) -> String {
        let mut declaration = field.r#type.declaration(name);
        if let Some(nameless) = nameless(&field.r#type).filter(|_| self.depth > 0) {
            declaration = declaration.replacen(&nameless.name(), &self.inner(&nameless), 1);
        }
        match field.bits {
            Some(bits) => format!("{declaration} : {}", bits.size_bits),
            None => declaration,
        }
    }

    /// Writes the members of a class: data members first, then functions, as gdb does. An access
    /// specifier is written before each change of access.
    fn class(&mut self, members: &[ClassMember], kind: CompositeKind) {
        let mut access = Access::of_kind(kind);
        let mut is_first = true;
        for part in [
            |kind: &ClassMemberKind| {
                matches!(kind, ClassMemberKind::Field(_) | ClassMemberKind::Static(_))
            },
            |kind: &ClassMemberKind| matches!(kind, ClassMemberKind::Function(_)),
        ] {
            let members = members.iter().filter(|member| part(&member.kind));
            let mut members = members.take(MEMBERS_MAX).peekable();
            if members.peek().is_some() && !std::mem::take(&mut is_first) {
                self.text.push('\n');
            }
            for member in members {
                if access != member.access {
                    access = member.access;
                    let _ = writeln!(self.text, "  {}:", access.word());
                }
                match &member.kind {
                    ClassMemberKind::Field(field) => {
                        self.member(field, kind == CompositeKind::Union);
                    }
                    ClassMemberKind::Static(declaration)
                    | ClassMemberKind::Function(declaration) => {
                        self.line(&format!("{declaration};"));
                    }
                }
            }
        }
    }

    fn variants(&mut self, part: &VariantPart) {
        for variant in part.variants.iter().take(MEMBERS_MAX) {
            let name = variant.field.name.as_deref().unwrap_or("_");
            let fields = variant.field.r#type.composite();
            let fields = fields.map_or_else(Vec::new, |it| it.fields.clone());
            let is_tuple = |field: &Field| field.position().is_some();
            let mut line = name.to_owned();
            if !fields.is_empty() && fields.iter().all(is_tuple) {
                let types: Vec<String> = fields.iter().map(|it| it.r#type.name()).collect();
                let _ = write!(line, "({})", types.join(", "));
            } else if !fields.is_empty() {
                let fields = fields.iter().map(|field| {
                    let name = field.name.as_deref().unwrap_or("_");
                    format!("{name}: {}", field.r#type.name())
                });
                let _ = write!(line, " {{{}}}", fields.collect::<Vec<_>>().join(", "));
            }
            line.push(',');
            self.line(&line);
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str("    ");
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn close(mut self, size: Option<u64>, composite: &Composite) -> String {
        if self.with_offsets
            && composite.kind != CompositeKind::Union
            && composite.variants.is_none()
            && let Some(size) = size
            && size * 8 > self.end
            && self.end > 0
        {
            let rest = size * 8 - self.end;
            self.line(&format!("/* {} to its end */", amount(rest)));
        }
        self.text.push('}');
        self.text
    }
}

/// Returns the unnamed type that a member has, points to, or is an array of.
fn nameless(r#type: &Type) -> Option<Type> {
    let mut inner = r#type.clone();
    for _ in 0..DEPTH_MAX {
        inner = match inner.kind() {
            TypeKind::Const(to) | TypeKind::Volatile(to) | TypeKind::Qualified(to) => to,
            TypeKind::Pointer(to) | TypeKind::Reference(to) => to,
            TypeKind::Array { element, .. } => element,
            TypeKind::Composite(_) | TypeKind::Enumeration { .. } => {
                return inner.name().ends_with(NAMELESS).then_some(inner);
            }
            _ => return None,
        };
    }
    None
}

/// Returns the offset and size of a member, in bits.
fn extent(field: &Field) -> (u64, u64) {
    match field.bits {
        Some(bits) => (bits.offset_bits, bits.size_bits),
        None => (field.offset * 8, field.r#type.size().unwrap_or(0) * 8),
    }
}

fn amount(bits: u64) -> String {
    match (bits % 8, bits / 8) {
        (0, 1) => "1 byte".to_owned(),
        (0, bytes) => format!("{bytes} bytes"),
        _ if bits == 1 => "1 bit".to_owned(),
        _ => format!("{bits} bits"),
    }
}
