//! Where a variable is by its description, as a slot of the frame and a path from there.
//!
//! At the first instruction the slot has nothing yet. What is stored there is an argument
//! ([`super::prologue`]), and the path leads from it: to a parameter that is passed by its
//! address, or to what a closure has captured.

use super::convention::Convention;
use super::prologue::{Prologue, Slot, SlotBase};
use super::{EntryLocation, EntryPiece, EntryPieceLocation};
use crate::dwarf::{DebugInfo, DieRef};
use crate::location::{Location, evaluation_encoding, frame_base_at, single_register};
use crate::variable::Variable;
use crate::{Function, SymbolFile};
use gimli::Operation;
use juror_arch::dwarf::{FRAME_POINTER, STACK_POINTER};
use smallvec::SmallVec;
use std::sync::Arc;

/// A step on the path from a slot to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryStep {
    /// Adds to the address.
    Add(i64),
    /// Continues at the address that is stored at the address.
    Load,
}

/// A variable of a function at its first instruction, which is reached through an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPath {
    /// The argument, whose value is an address.
    pub argument: EntryPiece,
    /// The steps from that address to the variable.
    pub steps: SmallVec<[EntryStep; 4]>,
}

impl SymbolFile {
    /// Returns the way to a local variable that is part of an argument at the first
    /// instruction of a function: what a closure has captured. `None` for other variables, and
    /// where it is not certain.
    pub fn entry_path(&self, function: &Function, variable: &Variable) -> Option<EntryPath> {
        let (info, die) = self.described(function)?;
        let (slot, steps) = slot_of(info, die, function.low_pc, &variable.location)?;
        let (EntryStep::Load, steps) = steps.split_first()? else {
            return None;
        };
        let stored = Prologue::of(self, function)?.stored_in(slot, 8)?;
        let [argument] = stored.as_slice() else {
            return None;
        };
        Some(EntryPath {
            argument: argument.clone(),
            steps: steps.into(),
        })
    }
}

impl Variable {
    /// Returns whether the variable is found through a slot of the frame that has an address.
    pub fn is_behind_slot(&self) -> bool {
        let has_load = |it: Vec<Operation<_>>| {
            let is_slot = matches!(
                it.first(),
                Some(Operation::FrameOffset { .. } | Operation::RegisterOffset { .. })
            );
            is_slot && it.iter().any(|it| matches!(it, Operation::Deref { .. }))
        };
        self.location.whole_operations().is_some_and(has_load)
    }
}

/// Returns the location of a parameter of unoptimized code by the argument that the prologue
/// stores in its slot.
pub(super) fn stored(
    file: &SymbolFile,
    info: &Arc<DebugInfo>,
    die: DieRef,
    function: &Function,
    variable: &Variable,
) -> Option<EntryLocation> {
    let size = variable.r#type.size()?;
    let (slot, steps) = slot_of(info, die, function.low_pc, &variable.location)?;
    let prologue = Prologue::of(file, function)?;
    let on_stack = prologue.offset_of(slot).filter(|offset| *offset >= 0);
    match (steps.as_slice(), on_stack) {
        // LLVM describes an address that is passed on the stack as if the value were there.
        ([], Some(offset)) if Convention::new(info, die).passes_address(&variable.r#type) => {
            Some(whole(size, EntryPieceLocation::PointedByStack(offset)))
        }
        ([], Some(offset)) => Some(whole(size, EntryPieceLocation::Stack(offset))),
        ([], None) => prologue.stored_in(slot, size),
        ([EntryStep::Load], Some(offset)) => {
            Some(whole(size, EntryPieceLocation::PointedByStack(offset)))
        }
        ([EntryStep::Load], None) => {
            let address = prologue.stored_in(slot, 8)?;
            let location = match &address.as_slice() {
                [only] => match only.location {
                    EntryPieceLocation::Register(it) => EntryPieceLocation::PointedByRegister(it),
                    EntryPieceLocation::Stack(it) => EntryPieceLocation::PointedByStack(it),
                    _ => return None,
                },
                _ => return None,
            };
            Some(whole(size, location))
        }
        _ => None,
    }
}

fn whole(size: u64, location: EntryPieceLocation) -> EntryLocation {
    std::iter::once(EntryPiece {
        offset: 0,
        size: u32::try_from(size).unwrap_or(u32::MAX),
        location,
    })
    .collect()
}

/// Returns the slot where a location begins, and the path from there.
fn slot_of(
    info: &Arc<DebugInfo>,
    function: DieRef,
    low_pc: u64,
    location: &Location,
) -> Option<(Slot, SmallVec<[EntryStep; 4]>)> {
    let operations = location.whole_operations()?;
    let (first, rest) = operations.split_first()?;
    let slot = match first {
        Operation::FrameOffset { offset } => Slot {
            base: frame_base(info, function, low_pc)?,
            offset: *offset,
        },
        Operation::RegisterOffset {
            register, offset, ..
        } => Slot {
            base: base_in(register.0)?,
            offset: *offset,
        },
        _ => return None,
    };
    let mut steps = SmallVec::new();
    for operation in rest {
        steps.push(match operation {
            Operation::Deref {
                size: 8,
                space: false,
                ..
            } => EntryStep::Load,
            Operation::PlusConstant { value } => EntryStep::Add(i64::try_from(*value).ok()?),
            _ => return None,
        });
    }
    Some((slot, steps))
}

fn frame_base(info: &Arc<DebugInfo>, function: DieRef, low_pc: u64) -> Option<SlotBase> {
    let encoding = evaluation_encoding(info, function.unit);
    let base = frame_base_at(info, function, low_pc)?;
    if let Some(register) = single_register(&base, encoding) {
        return base_in(register);
    }
    let mut operations = base.operations(encoding);
    let both = (operations.next().ok()?, operations.next().ok()?);
    matches!(both, (Some(Operation::CallFrameCFA), None)).then_some(SlotBase::Frame)
}

fn base_in(register: u16) -> Option<SlotBase> {
    match register {
        STACK_POINTER => Some(SlotBase::StackPointer),
        FRAME_POINTER => Some(SlotBase::FramePointer),
        _ => None,
    }
}
