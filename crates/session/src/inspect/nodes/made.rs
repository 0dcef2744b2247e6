//! Nodes of values: names, summaries, numbers of parts, expressions.

use crate::session::Session;
use crate::state::nodes::{Content, FrameOf, Known, Value};
use crate::state::values::convenience;
use juror_fault::CommandError;
use juror_points::expressions::read_with_types;
use juror_program::assignment::is_text;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::Frame;
use juror_symbols::TypeKind;
use juror_values::classes::upcast::referred_to;
use juror_values::format::{Radix, summary};
use juror_values::parts::{Path, Reader, Role, open};
use juror_values::typed::{Location, Memory, Number, Typed};
use juror_view::nodes::{Node, NodeId, NodeKind};

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is a variable of a frame, which may be in a register.
    Variable,
    /// It is a register or a part of one.
    Register,
    /// It is a variable with a fixed address.
    Static,
    /// A call has returned it.
    Returned,
    /// It is a part of a value.
    Part,
}

/// A value that becomes a node.
pub(super) struct Draft {
    /// Its name; none for a part, which is named by its role.
    pub name: Option<String>,
    /// Its role in the value that it is a part of.
    pub role: Option<Role>,
    pub typed: Typed,
    pub path: Path,
    /// Whether its expression is checked: its name may be hidden by another one.
    pub is_checked: bool,
    pub origin: Origin,
}

/// Makes nodes of values of one frame.
pub(super) struct Writer<'a> {
    session: &'a mut Session,
    frame: FrameOf,
    frames: Vec<Frame>,
    radix: Radix,
}

impl Writer<'_> {
    /// The frame must be the selected one.
    pub fn new(
        session: &mut Session,
        frame: FrameOf,
        radix: Radix,
    ) -> Result<Writer<'_>, CommandError> {
        let frames = session.frames()?.to_vec();
        Ok(Writer {
            session,
            frame,
            frames,
            radix,
        })
    }

    /// Makes nodes, in the order of the values.
    pub fn nodes(
        mut self,
        drafts: impl IntoIterator<Item = Draft>,
    ) -> Result<Vec<Node>, CommandError> {
        drafts.into_iter().map(|draft| self.node(draft)).collect()
    }

    fn node(&mut self, draft: Draft) -> Result<Node, CommandError> {
        let program = self.session.running()?;
        let path = if draft.is_checked {
            self.checked(draft.path, &draft.typed)
        } else {
            draft.path
        };
        let typed = draft.typed;
        let is_of_object = draft.role.as_ref().is_some_and(Role::is_of_object);
        let reader = self.reader()?;
        let opened = open(&typed, &path, is_of_object, reader);
        let summary = summary(&typed, program, program, self.radix, is_of_object);
        let mut node = Node {
            id: NodeId::default(),
            name: match (draft.name, &draft.role) {
                (Some(name), _) => name,
                (None, Some(role)) => self.name_of(role, &path, &typed)?,
                (None, None) => String::new(),
            },
            type_name: Some(typed.r#type.name()),
            named: opened.named(),
            indexed: opened.indexed(),
            evaluate_name: path.text().map(str::to_owned),
            address: address_of(&typed, program),
            memory: memory_of(&typed, program),
            size: typed.r#type.size(),
            writable: is_writable(&typed, draft.origin),
            kind: kind_of(&typed, draft.role.as_ref(), draft.origin, &summary),
            summary,
        };
        if node.named + node.indexed > 0 {
            let value = Value {
                typed,
                path,
                is_of_object,
                radix: self.radix,
            };
            node.id = self.session.processes.add_node(Known {
                process: self.session.processes.number,
                frame: self.frame,
                content: Content::Value(Box::new(value)),
            });
        }
        Ok(node)
    }

    /// Returns what reads parts.
    pub fn reader(&self) -> Result<Reader<'_>, CommandError> {
        let program = self.session.running()?;
        Ok(Reader {
            memory: program,
            names: program,
            is_raw: self.radix == Radix::Raw,
            walks: Some(&self.session.processes.nodes.walks),
        })
    }

    /// Returns the name of a part.
    pub fn name_of(&self, role: &Role, path: &Path, typed: &Typed) -> Result<String, CommandError> {
        Ok(match role {
            Role::Member(name) | Role::Base(name, _) => name.to_string(),
            Role::Anonymous => {
                let composite = typed.r#type.composite();
                let is_union =
                    composite.is_some_and(|it| it.kind == juror_symbols::CompositeKind::Union);
                if is_union { "(union)" } else { "(struct)" }.to_owned()
            }
            Role::Element(index) => format!("[{index}]"),
            Role::Entry(key) => {
                let program = self.session.running()?;
                let key = summary(key, program, program, self.radix, false);
                format!("[{key}]")
            }
            Role::Target => path.text().unwrap_or("*").to_owned(),
        })
    }

    /// Returns the path if its expression gives the value, or the path of the value's address.
    fn checked(&self, path: Path, typed: &Typed) -> Path {
        let gives = |path: &Path| path.text().is_some_and(|text| self.gives(text, typed));
        // A base class with a table has no expression of its own.
        if path.text().is_none() || gives(&path) {
            return path;
        }
        let by_address = typed.address().filter(|_| typed.bits.is_none());
        let by_address = by_address.map(|address| path.at_address(&typed.r#type, address));
        match by_address.filter(gives) {
            Some(by_address) => by_address,
            None => path.without_text(),
        }
    }

    /// Returns whether an expression gives a value.
    fn gives(&self, text: &str, typed: &Typed) -> bool {
        let values = |name: &str| convenience(&self.session.user.values, name);
        let Ok(program) = self.session.running() else {
            return false;
        };
        let scope = FrameScope {
            program,
            frames: &self.frames,
            level: self.frame.level,
            convenience: &values,
        };
        let Ok(expression) = read_with_types(text, &[]) else {
            return false;
        };
        let found = juror_values::expression::evaluate(&expression, &scope);
        found.is_ok_and(|found| {
            found.location == typed.location
                && found.bits == typed.bits
                && found.r#type.name() == typed.r#type.name()
        })
    }
}

/// Returns the address of a value, or of what a reference refers to.
fn address_of(typed: &Typed, memory: &dyn Memory) -> Option<u64> {
    let is_whole = typed.bits.is_none();
    let referent = referred_to(typed, memory).ok().filter(|_| is_whole)?;
    referent.address()
}

/// Returns the address of the memory to show for a value: where a pointer points to, or where the
/// value is.
fn memory_of(typed: &Typed, memory: &dyn Memory) -> Option<u64> {
    let address = address_of(typed, memory);
    let referent = referred_to(typed, memory).ok();
    let pointer = referent.filter(|it| matches!(it.r#type.strip().kind(), TypeKind::Pointer(_)));
    match pointer.and_then(|it| it.number(memory).ok()) {
        Some(Number::Pointer(target, _)) if target != 0 => Some(target),
        _ => address,
    }
}

fn kind_of(typed: &Typed, role: Option<&Role>, origin: Origin, summary: &str) -> NodeKind {
    let is_error = matches!(typed.location, Location::Missing(_))
        || (summary.starts_with('<') && summary.ends_with('>'));
    match (role, origin) {
        _ if is_error => NodeKind::Error,
        (Some(Role::Base(_, true)), _) => NodeKind::Virtual,
        (Some(Role::Base(_, false)), _) => NodeKind::Base,
        (None, Origin::Static) => NodeKind::Static,
        (None, Origin::Register) => NodeKind::Register,
        (None, Origin::Returned) => NodeKind::Returned,
        _ => match typed.r#type.strip().kind() {
            TypeKind::Pointer(_) | TypeKind::Reference(_) => NodeKind::Pointer,
            _ => NodeKind::Data,
        },
    }
}

/// Returns whether a value can be assigned: a number, truth value or pointer in memory or in a
/// register, or an array of characters in memory.
fn is_writable(typed: &Typed, origin: Origin) -> bool {
    let stripped = typed.r#type.strip();
    let target = match stripped.kind() {
        TypeKind::Reference(target) => target.strip(),
        _ => stripped,
    };
    let is_scalar = matches!(
        target.kind(),
        TypeKind::Base(_)
            | TypeKind::Pointer(_)
            | TypeKind::Enumeration { .. }
            | TypeKind::MemberPointer { .. }
    );
    if is_text(&target) {
        return matches!(typed.location, Location::Memory(_));
    }
    let is_place = match typed.location {
        Location::Memory(_) => true,
        Location::Bytes(_) => matches!(origin, Origin::Variable | Origin::Register),
        Location::Partial(_) | Location::Missing(_) => false,
    };
    is_scalar && is_place
}
