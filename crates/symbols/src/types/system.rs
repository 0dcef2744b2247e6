//! Structures of the operating system that no program defines: the kernel's signal
//! information.
//!
//! Source: the layout of `siginfo_t` in the x86-64 ABI, with the names of the C library,
//! which gdb uses, too.

use super::{Composite, CompositeKind, Field, Source, Type};
use std::sync::Arc;

/// The size of a `siginfo_t` in bytes.
const SIZE: u64 = 128;
/// The offset in bytes of the part that depends on the signal.
const PART: u64 = 16;

/// Returns the type of the kernel's signal information.
pub fn signal_information() -> Option<Type> {
    let (int, word, short) = (
        Type::builtin("int")?,
        Type::builtin("long")?,
        Type::builtin("short")?,
    );
    let unsigned = Type::builtin("unsigned int")?;
    let pointer = Type::void().pointer_to();
    let value = made(
        "sigval",
        CompositeKind::Union,
        8,
        [("sival_int", 0, &int), ("sival_ptr", 0, &pointer)],
    );
    let structure = |name, size, fields: &[(&str, u64, &Type)]| {
        made(name, CompositeKind::Struct, size, fields.iter().copied())
    };
    let sender = [("si_pid", 0, &int), ("si_uid", 4, &unsigned)];
    let killed = structure("_kill", 8, &sender);
    let timer = [
        ("si_tid", 0, &int),
        ("si_overrun", 4, &int),
        ("si_sigval", 8, &value),
    ];
    let timer = structure("_timer", 16, &timer);
    let [by, user] = sender;
    let real_time = structure("_rt", 16, &[by, user, ("si_sigval", 8, &value)]);
    let times = [
        ("si_status", 8, &int),
        ("si_utime", 16, &word),
        ("si_stime", 24, &word),
    ];
    let [status, in_user, in_system] = times;
    let child = structure("_sigchld", 32, &[by, user, status, in_user, in_system]);
    let bounds = [("_lower", 0, &pointer), ("_upper", 8, &pointer)];
    let bounds = structure("_addr_bnd", 16, &bounds);
    let fault = [
        ("si_addr", 0, &pointer),
        ("_addr_lsb", 8, &short),
        ("_addr_bnd", 16, &bounds),
    ];
    let fault = structure("_sigfault", 32, &fault);
    let poll = structure("_sigpoll", 16, &[("si_band", 0, &word), ("si_fd", 8, &int)]);
    let call = [
        ("_call_addr", 0, &pointer),
        ("_syscall", 8, &int),
        ("_arch", 12, &unsigned),
    ];
    let call = structure("_sigsys", 16, &call);
    let parts = made(
        "_sifields",
        CompositeKind::Union,
        SIZE - PART,
        [
            ("_kill", 0, &killed),
            ("_timer", 0, &timer),
            ("_rt", 0, &real_time),
            ("_sigchld", 0, &child),
            ("_sigfault", 0, &fault),
            ("_sigpoll", 0, &poll),
            ("_sigsys", 0, &call),
        ],
    );
    Some(structure(
        "siginfo",
        SIZE,
        &[
            ("si_signo", 0, &int),
            ("si_errno", 4, &int),
            ("si_code", 8, &int),
            ("_sifields", PART, &parts),
        ],
    ))
}

pub(super) fn made<'a>(
    name: &'static str,
    kind: CompositeKind,
    size: u64,
    fields: impl IntoIterator<Item = (&'a str, u64, &'a Type)>,
) -> Type {
    let field = |(name, offset, r#type): (&str, u64, &Type)| Field {
        name: Some(name.into()),
        offset,
        bits: None,
        r#type: r#type.clone(),
    };
    let composite = Composite {
        kind,
        fields: fields.into_iter().map(field).collect(),
        bases: Vec::new(),
        variants: None,
        incomplete: false,
        by_abi: None,
        by_reference: None,
    };
    Type {
        source: Source::System {
            name,
            size,
            composite: Arc::new(composite),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_system_has_them() {
        let whole = signal_information().expect("a type");
        assert_eq!(whole.name(), "struct siginfo");
        assert_eq!(whole.size(), Some(128));
        let (code, ..) = whole
            .field("si_code")
            .map(|it| (it.offset,))
            .expect("a field");
        assert_eq!(code, 8);
        let parts = whole.field("_sifields").expect("a union");
        assert_eq!((parts.offset, parts.r#type.size()), (16, Some(112)));
        let fault = parts.r#type.field("_sigfault").expect("of faults");
        assert_eq!(fault.offset, 0);
        let bounds = fault.r#type.field("_addr_bnd").expect("bounds");
        assert_eq!((bounds.offset, bounds.r#type.size()), (16, Some(16)));
        assert_eq!(whole, signal_information().expect("a type"));
        assert_ne!(whole, parts.r#type);
    }
}
