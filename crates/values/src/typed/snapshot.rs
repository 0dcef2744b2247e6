//! Snapshots of values: the bytes of a structure or array as they were when it was shown, and its
//! address.
//!
//! The address is kept, so that `&$1` works. The targets of pointers in the value are not part of
//! the snapshot, and are read as they are now.

use crate::classes::upcast::whole_object;
use crate::typed::{Location, Typed};
use juror_symbols::{Memory, Type, TypeKind, VtableOwner};
use std::sync::Arc;

/// The largest snapshot of a value, in bytes: a session shows many.
pub const SNAPSHOT_SIZE_MAX: u64 = 1 << 16;

/// The bytes of a value, and their address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    start: u64,
    bytes: Arc<[u8]>,
    place: Place,
}

/// The owner of the memory that a snapshot was taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The program.
    Programs,
    /// The expression: a call in it returned the value there.
    Expressions,
    /// The stack: the expression has been evaluated, and its memory is free for reuse.
    GivenBack,
}

impl Snapshot {
    /// Fills the buffer. Returns false if the snapshot does not contain all of it.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let found = address.checked_sub(self.start).and_then(|offset| {
            let offset = usize::try_from(offset).ok()?;
            self.bytes.get(offset..offset.checked_add(buffer.len())?)
        });
        found
            .inspect(|bytes| buffer.copy_from_slice(bytes))
            .is_some()
    }
}

/// Memory overlaid with a snapshot.
pub(crate) struct SnapshotMemory<'a> {
    snapshot: Option<&'a Snapshot>,
    memory: &'a dyn Memory,
}

impl Memory for SnapshotMemory<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let is_kept = self
            .snapshot
            .is_some_and(|snapshot| snapshot.read(address, buffer));
        is_kept || self.memory.read(address, buffer)
    }

    fn vtable_owner(&self, address: u64) -> Option<VtableOwner> {
        self.memory.vtable_owner(address)
    }
}

impl Typed {
    /// Returns the value with a snapshot of the memory that it is in, or of the complete object if
    /// the value is a part of one. A value that is too large, or cannot be read, is returned
    /// without a snapshot.
    pub fn with_snapshot(self, memory: &dyn Memory) -> Typed {
        if let Some(snapshot) = &self.snapshot
            && snapshot.place != Place::Programs
        {
            let snapshot = Some(Snapshot {
                place: Place::GivenBack,
                ..snapshot.clone()
            });
            return Typed { snapshot, ..self };
        }
        let whole = whole_object(&self, memory);
        let whole = whole.as_ref().unwrap_or(&self);
        let (Some(start), Some(size)) = (whole.address(), whole.r#type.size()) else {
            return self;
        };
        if !(1..=SNAPSHOT_SIZE_MAX).contains(&size) {
            return self;
        }
        let Ok(bytes) = whole.bytes(memory, size) else {
            return self;
        };
        let snapshot = Some(Snapshot {
            start,
            bytes: bytes.into(),
            place: Place::Programs,
        });
        Typed { snapshot, ..self }
    }

    /// Returns a copy that later changes of memory do not affect: a number becomes plain bytes,
    /// and another value keeps its address beside a snapshot, so that expressions can continue
    /// from it.
    pub fn captured(self, memory: &dyn Memory) -> Typed {
        let is_number = matches!(
            self.r#type.strip().kind(),
            TypeKind::Base(_) | TypeKind::Pointer(_) | TypeKind::Enumeration { .. }
        );
        if self.address().is_none() {
            return self;
        }
        if !is_number {
            return self.with_snapshot(memory);
        }
        let size = match self.bits {
            Some(bits) => (bits.offset_bits + bits.size_bits).div_ceil(8),
            None => self.r#type.size().unwrap_or(0),
        };
        match self.bytes(memory, size) {
            Ok(bytes) => Typed {
                location: Location::Bytes(bytes),
                snapshot: None,
                ..self
            },
            Err(_) => self,
        }
    }

    /// Returns the value as an argument of a call. If its memory no longer holds the snapshot, for
    /// instance for the result of an earlier call, the value becomes plain bytes without an
    /// address.
    pub(crate) fn for_call(self, memory: &dyn Memory) -> Typed {
        let Some(size) = self.snapshot.as_ref().and(self.r#type.size()) else {
            return self;
        };
        let snapshot = self.snapshot.as_ref();
        let is_given_back = snapshot.is_some_and(|it| it.place == Place::GivenBack);
        let now = self.clone().without_snapshot().bytes(memory, size).ok();
        let is_changed = |kept: &Vec<u8>| is_given_back || now.as_ref() != Some(kept);
        match self.bytes(memory, size) {
            Ok(kept) if self.bits.is_none() && is_changed(&kept) => Typed {
                location: Location::Bytes(kept),
                snapshot: None,
                ..self
            },
            _ => self,
        }
    }

    /// Returns the result of a call that was stored at an address as `bytes`.
    pub fn snapshot_at(r#type: Type, address: u64, bytes: Vec<u8>) -> Typed {
        let snapshot = Some(Snapshot {
            start: address,
            bytes: bytes.into(),
            place: Place::Expressions,
        });
        Typed {
            snapshot,
            ..Typed::in_memory(r#type, address)
        }
    }

    /// Returns the value at its address as it is now.
    pub fn without_snapshot(self) -> Typed {
        Typed {
            snapshot: None,
            ..self
        }
    }

    /// Returns another part of the complete object, at `address`.
    pub(crate) fn related(&self, r#type: Type, address: u64) -> Typed {
        Typed {
            snapshot: self.snapshot.clone(),
            ..Typed::in_memory(r#type, address)
        }
    }

    /// Returns the memory with the snapshot of this value overlaid.
    pub(crate) fn memory<'a>(&'a self, memory: &'a dyn Memory) -> SnapshotMemory<'a> {
        SnapshotMemory {
            snapshot: self.snapshot.as_ref(),
            memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::Number;
    use std::cell::RefCell;

    /// Eight bytes from 16 on.
    struct Words(RefCell<[u8; 8]>);

    impl Memory for Words {
        fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
            let snapshot = Snapshot {
                start: 16,
                bytes: Arc::from(*self.0.borrow()),
                place: Place::Programs,
            };
            snapshot.read(address, buffer)
        }
    }

    #[test]
    fn a_snapshot_keeps_its_bytes_and_address() {
        let int = Type::builtin("int").expect("a type");
        let memory = Words(RefCell::new([1, 0, 0, 0, 2, 0, 0, 0]));
        let array = Typed::in_memory(int.array_of(2), 16).with_snapshot(&memory);
        *memory.0.borrow_mut() = [3, 0, 0, 0, 4, 0, 0, 0];
        for (offset, was, is) in [(0, 1, 3), (4, 2, 4)] {
            let part = array.part(offset, int.clone(), None);
            assert_eq!(part.number(&memory), Ok(Number::Int(was)), "{offset}");
            assert_eq!(
                part.without_snapshot().number(&memory),
                Ok(Number::Int(is)),
                "{offset}"
            );
        }
        assert_eq!(array.address(), Some(16));
    }

    /// Returns a value that a call returned, of which these bytes were at 16.
    fn returned(bytes: [u8; 4]) -> Typed {
        let int = Type::builtin("int").expect("a type");
        Typed::snapshot_at(int, 16, bytes.to_vec())
    }

    #[test]
    fn a_related_part_shares_the_snapshot() {
        let int = Type::builtin("int").expect("a type");
        let memory = Words(RefCell::new([1, 0, 0, 0, 2, 0, 0, 0]));
        let array = Typed::in_memory(int.array_of(2), 16).with_snapshot(&memory);
        *memory.0.borrow_mut() = [3, 0, 0, 0, 4, 0, 0, 0];
        let second = array.related(int, 20);
        assert_eq!(second.number(&memory), Ok(Number::Int(2)));
        assert_eq!(second.address(), Some(20));
    }

    #[test]
    fn the_result_of_a_call_is_what_was_returned() {
        let memory = Words(RefCell::new([9; 8]));
        let result = returned([5, 0, 0, 0]);
        assert_eq!(result.number(&memory), Ok(Number::Int(5)));
        assert_eq!(result.address(), Some(16));
    }

    /// Asserts that a result stays at its address unless the memory there has changed.
    #[test]
    fn a_call_takes_a_result_without_a_place_once_the_place_has_changed() {
        let memory = Words(RefCell::new([5, 0, 0, 0, 0, 0, 0, 0]));
        let result = returned([5, 0, 0, 0]);
        assert_eq!(result.clone().for_call(&memory), result);
        *memory.0.borrow_mut() = [6; 8];
        let bytes = Typed::of_bytes(result.r#type.clone(), vec![5, 0, 0, 0]);
        assert_eq!(result.for_call(&memory), bytes);
    }

    /// Asserts that a result is copied for a call after its expression has been evaluated, even if
    /// its memory has not changed.
    #[test]
    fn a_result_that_was_shown_has_no_place_for_calls() {
        let memory = Words(RefCell::new([5, 0, 0, 0, 0, 0, 0, 0]));
        let shown = returned([5, 0, 0, 0]).with_snapshot(&memory);
        assert_eq!(shown.number(&memory), Ok(Number::Int(5)));
        let bytes = Typed::of_bytes(shown.r#type.clone(), vec![5, 0, 0, 0]);
        assert_eq!(shown.for_call(&memory), bytes);
    }

    #[test]
    fn a_large_or_unreadable_value_has_no_snapshot() {
        let int = Type::builtin("int").expect("a type");
        let memory = Words(RefCell::new([0; 8]));
        for (count, address) in [(SNAPSHOT_SIZE_MAX, 16), (2, 17), (2, u64::MAX)] {
            let array = Typed::in_memory(int.array_of(count), address);
            assert_eq!(
                array.clone().with_snapshot(&memory),
                array,
                "{count} {address}"
            );
        }
    }
}
