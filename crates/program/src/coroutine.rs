//! Variables of a Rust coroutine (an `async fn` or `async` block) where it has just been
//! entered.
//!
//! They are members of the coroutine's object, and the debug information finds them by a slot
//! of the frame with the object's address. The instructions that rustc marks as the
//! prologue's end are still to write that slot; and where the coroutine goes on after an
//! `.await`, only the object says which member a variable is now. Before the first statement
//! they are therefore read from the object, which the first argument points to.

use crate::program::Program;
use crate::stack::frames::Frame;
use juror_symbols::{EntryPieceLocation, KeptLocation, Memory, Parameter, Type, Variable};
use juror_values::typed::Typed;

/// The name that rustc gives the discriminant of a coroutine.
const STATE: &str = "__state";
/// The maximum number of structures around the pointer to the object (`Pin<&mut T>`).
const WRAPPERS_MAX: usize = 4;

impl Program {
    /// Returns the value of a variable of the coroutine that a frame has just entered. Returns
    /// `None` elsewhere, and for a variable that is not a member in any state of the coroutine.
    pub(crate) fn in_entered_coroutine(&self, frame: &Frame, variable: &Variable) -> Option<Typed> {
        if variable.parameter || frame.is_inlined() || !variable.r#type.is_rust() {
            return None;
        }
        let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
        let symbols = &module.symbols;
        let pc = module.to_file(frame.pc);
        if pc < function.low_pc || pc > symbols.body_address(function) {
            return None;
        }
        let first = symbols
            .entry_value_plan(function, Parameter::Position(1))
            .ok()?;
        let coroutine = coroutine_behind(&first.r#type)?;
        if !has_member(&coroutine, &variable.name) {
            return None;
        }
        let [piece] = first.location.as_slice() else {
            return None;
        };
        let EntryPieceLocation::Register(number) = piece.location else {
            return None;
        };
        let Some(address) = self.kept_from_entry(frame, number) else {
            let why = "where the coroutine lies is not known here";
            return Some(Typed::missing(variable.r#type.clone(), why));
        };
        let found = Typed::in_memory(coroutine, address).field(&variable.name, self);
        Some(found.unwrap_or_else(|_| {
            let why = "the coroutine does not keep it while it waits";
            Typed::missing(variable.r#type.clone(), why)
        }))
    }

    /// Returns the value that a register had at the entry of a frame's function, or `None` if the
    /// frame does not keep it.
    pub(crate) fn kept_from_entry(&self, frame: &Frame, number: u16) -> Option<u64> {
        let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
        let symbols = &module.symbols;
        match symbols.kept_from_entry(function, number, module.to_file(frame.pc))? {
            KeptLocation::Register(number) => frame.registers.get(number),
            KeptLocation::Slot(offset) => {
                let mut word = [0; 8];
                let address = frame.cfa?.wrapping_add_signed(offset);
                self.read(address, &mut word)
                    .then(|| u64::from_le_bytes(word))
            }
        }
    }
}

/// Returns the coroutine type behind a first parameter: `Pin<&mut T>`, or `&mut T`.
fn coroutine_behind(parameter: &Type) -> Option<Type> {
    let mut at = parameter.clone();
    for _ in 0..WRAPPERS_MAX {
        if let Some(target) = at.target() {
            let part = target.composite()?.variants.clone()?;
            let state = part.discriminant.as_ref()?.name.as_deref();
            return (state == Some(STATE)).then_some(target);
        }
        let composite = at.composite()?;
        let mut sized = composite
            .fields
            .iter()
            .filter(|it| it.r#type.size() != Some(0));
        at = sized.next()?.r#type.clone();
    }
    None
}

/// Returns whether a coroutine has a member of this name in one of its states.
fn has_member(coroutine: &Type, name: &str) -> bool {
    let composite = coroutine.composite();
    let part = composite.as_ref().and_then(|it| it.variants.as_ref());
    part.is_some_and(|part| {
        let mut states = part.variants.iter();
        states.any(|state| state.field.r#type.field(name).is_some())
    })
}
