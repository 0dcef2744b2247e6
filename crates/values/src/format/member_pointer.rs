//! Formats pointers to members of C++ by the name of the member.

use super::{Radix, Writer};
use crate::classes::member_pointer::{MemberPointer, read};
use crate::typed::Typed;
use juror_symbols::{Type, demangle};
use std::fmt::Write;

impl Writer<'_> {
    pub(super) fn member_pointer(&mut self, value: &Typed, class: &Type, member: &Type) {
        let pointer = match read(value, self.memory) {
            Ok(pointer) => pointer,
            Err(why) => return self.missing(&why),
        };
        if !matches!(self.radix, Radix::Natural | Radix::String | Radix::Address) {
            return self.words_of(pointer);
        }
        match pointer {
            MemberPointer::Null => self.push("null"),
            MemberPointer::Data(offset) => self.data_member(offset, class, member),
            MemberPointer::Function {
                address,
                adjustment,
            } => {
                self.address(address);
                self.adjustment(adjustment);
            }
            MemberPointer::Virtual { slot, adjustment } => {
                self.virtual_member(slot, adjustment, class);
            }
        }
    }

    /// Writes the integers that the pointer consists of.
    fn words_of(&mut self, pointer: MemberPointer) {
        let (Some(long), Some(word)) = (Type::builtin("long"), Type::builtin("unsigned long"))
        else {
            return;
        };
        let (function, adjustment) = match pointer {
            MemberPointer::Null => return self.push("null"),
            MemberPointer::Data(offset) => return self.integer(offset.into(), &long, None),
            MemberPointer::Function {
                address,
                adjustment,
            } => (address, adjustment),
            MemberPointer::Virtual { slot, adjustment } => {
                (slot.wrapping_mul(8).wrapping_add(1), adjustment)
            }
        };
        self.push("{");
        self.integer(function.into(), &word, None);
        self.push(", ");
        self.integer(adjustment.into(), &long, None);
        self.push("}");
    }

    fn data_member(&mut self, offset: i64, class: &Type, member: &Type) {
        let found = u64::try_from(offset).ok();
        let found = found.and_then(|offset| class.field_at(offset, member));
        let named = found.and_then(|found| Some((found.class.name(), found.field.name?)));
        let _ = match named {
            Some((class, name)) => write!(self.text, "&{class}::{name}"),
            // The offset may belong to a derived class, or the pointer may be uninitialized.
            None => write!(self.text, "offset {offset}, no member of {}", class.name()),
        };
    }

    /// Writes the name of a virtual function by its slot in the class's own table. An object of a
    /// derived class may have an override there.
    fn virtual_member(&mut self, slot: u64, adjustment: i64, class: &Type) {
        let part = u64::try_from(adjustment).ok();
        let method = part.and_then(|part| class.method_in_slot(part, slot));
        let name = method.map(|method| {
            let linked = method.linkage_name.as_deref().and_then(demangle);
            linked.unwrap_or_else(|| format!("{}::{}", method.class.name(), method.name))
        });
        let _ = match name {
            Some(name) => write!(self.text, "&virtual {name}"),
            None => {
                let class = class.name();
                write!(self.text, "virtual function {slot} of the table of {class}")
            }
        };
        self.adjustment(adjustment);
    }

    fn adjustment(&mut self, adjustment: i64) {
        if adjustment != 0 {
            let _ = write!(self.text, " (this {adjustment:+})");
        }
    }
}
