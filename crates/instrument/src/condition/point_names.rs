//! The names that are visible at the address of a point, with the locations of their values there.

use super::compile::Names;
use super::node::Word;
use super::operand::{Operand, OperandLocation, Unknown, field_behind};
use juror_arch::names::whole_register;
use juror_arch::{abi, dwarf};
use juror_program::program::Program;
use juror_program::scope::{FrameScope, has_field};
use juror_program::stack::frames::Frame;
use juror_symbols::{
    EntryLocation, EntryPieceLocation, FixedLocation, Parameter, Type, TypeKind, Variable,
    argument_plan,
};
use juror_values::expression::Scope;
use juror_values::pretty_printers::Contents;
use juror_values::read_plan::ClassNumber;
use juror_values::standard_types::LibraryTypes as _;
use std::rc::Rc;

/// The names at an address.
pub(super) struct PointNames<'a> {
    program: &'a Program,
    frame: Option<Frame>,
    result: Option<Type>,
}

impl<'a> PointNames<'a> {
    /// Returns the names of the frame at a level, which may be that of an inlined call.
    pub(super) fn new(program: &'a Program, address: u64, level: usize) -> PointNames<'a> {
        PointNames {
            program,
            frame: program.frames_at(address).into_iter().nth(level),
            result: None,
        }
    }

    /// Adds the type of the function's result.
    pub(super) fn returning(self, result: Option<&Type>) -> PointNames<'a> {
        PointNames {
            result: result.cloned(),
            ..self
        }
    }

    /// Adds the parameters of an inlined call that begins there.
    pub(super) fn beginning_with(mut self, arguments: Option<&Rc<[Variable]>>) -> PointNames<'a> {
        if let Some(frame) = &mut self.frame {
            frame.arguments = arguments.cloned();
        }
        self
    }

    /// Returns whether a name is unknown there.
    pub(super) fn lacks(&self, name: &str) -> bool {
        matches!(Names::name(self, name), Err(Unknown::Missing(_)))
    }

    fn with_scope<T>(&self, ask: impl FnOnce(&FrameScope<'_>) -> T) -> T {
        ask(&FrameScope {
            program: self.program,
            frames: self.frame.as_slice(),
            level: 0,
            convenience: &|_| None,
        })
    }

    fn local(&self, name: &str) -> Option<Result<Operand, Unknown>> {
        let frame = self.frame.as_ref()?;
        let variable = self.program.local_variable(frame, name)?;
        Some(self.location_of(frame, variable).ok_or(Unknown::UntilHit))
    }

    /// Returns the location of a variable, if it is the same in every frame at the address.
    fn location_of(&self, frame: &Frame, variable: Variable) -> Option<Operand> {
        let module = frame.module.as_ref()?;
        if variable.parameter
            && frame.is_at_entry()
            && let Some(function) = &frame.function
            && let name = Parameter::Name(&variable.name)
            && let Ok(value) = module.symbols.entry_value_plan(function, name)
        {
            return at_entry(value.r#type, &value.location);
        }
        let pc = module.to_file(frame.lookup);
        let location = match variable.location.fixed_at(pc)? {
            FixedLocation::Register(number) => OperandLocation::Bits(register_word(number)?),
            FixedLocation::AtRegister { register, offset } => {
                OperandLocation::Memory(register_word(register)?.offset(offset))
            }
            FixedLocation::AtFrame(offset) => {
                let (register, base) = module.symbols.frame_address_at(pc)?;
                OperandLocation::Memory(register_word(register)?.offset(base.wrapping_add(offset)))
            }
            FixedLocation::AtAddress(address) => {
                OperandLocation::Memory(Word::Constant(module.to_process(address)))
            }
            FixedLocation::Value(bits) => OperandLocation::Bits(Word::Constant(bits)),
        };
        let size = variable.r#type.size()?;
        // A variable larger than a register is in several registers.
        let fits = size <= 8 || matches!(location, OperandLocation::Memory(_));
        fits.then(|| Operand::new(variable.r#type, location))
    }
}

impl Names for PointNames<'_> {
    fn name(&self, name: &str) -> Result<Operand, Unknown> {
        if let Some(found) = self.local(name) {
            return found;
        }
        // `this` is implicit in C++ member functions.
        let frame = self.frame.as_ref();
        let declares =
            frame.is_some_and(|frame| self.program.global_declaration(frame, name).is_some());
        if let Some(this) = self.local("this").filter(|_| !declares) {
            let this = this?;
            let Some(object) = this.r#type.target() else {
                return Err(Unknown::UntilHit);
            };
            if has_field(&object, name) {
                return field_behind(this, name, self);
            }
            // It may be a lambda of clang that has captured `this`.
            let captured = object.field("this").and_then(|field| field.r#type.target());
            if captured.is_some_and(|it| has_field(&it, name) || it.field("this").is_some()) {
                return Err(Unknown::UntilHit);
            }
        }
        let found = self.with_scope(|scope| scope.outside_strictly(name));
        Operand::of(found.map_err(Unknown::Missing)?)
    }

    fn register(&self, name: &str) -> Result<Operand, Unknown> {
        // Any other name is a part of a register or a convenience variable; the prompt knows which
        // exist.
        let number = whole_register(name).ok_or(Unknown::UntilHit)?;
        let r#type = if dwarf::holds_address(number) {
            Type::void().pointer_to()
        } else {
            Type::builtin("long").ok_or(Unknown::UntilHit)?
        };
        let word = register_word(number).ok_or(Unknown::UntilHit)?;
        Ok(Operand::new(r#type, OperandLocation::Bits(word)))
    }

    fn argument(&self, position: u8) -> Result<Operand, Unknown> {
        let frame = self.frame.as_ref().ok_or(Unknown::UntilHit)?;
        if let Some(arguments) = &frame.arguments {
            let index = usize::from(position).wrapping_sub(1);
            let variable = arguments.get(index).ok_or_else(|| {
                Unknown::Missing(format!("the function has no parameter {position}").into())
            })?;
            return self
                .location_of(frame, variable.clone())
                .ok_or(Unknown::UntilHit);
        }
        let (Some(module), Some(function)) = (&frame.module, &frame.function) else {
            return Err(Unknown::UntilHit);
        };
        let parameters = module.symbols.parameters(function);
        let index = usize::from(position).wrapping_sub(1);
        if let Some(variable) = parameters.get(index) {
            return self.local(&variable.name).unwrap_or(Err(Unknown::UntilHit));
        }
        if !frame.is_at_entry() {
            return Err(Unknown::UntilHit);
        }
        let location = std::iter::once(argument_plan(usize::from(position), &[])).collect();
        let word = Type::builtin("unsigned long").ok_or(Unknown::UntilHit)?;
        at_entry(word, &location).ok_or(Unknown::UntilHit)
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.with_scope(|scope| scope.type_named(name))
    }

    fn has_variable(&self, word: &str) -> bool {
        self.local(word).is_some() || self.with_scope(|scope| scope.has_variable(word))
    }

    fn is_rust(&self) -> bool {
        self.with_scope(|scope| scope.is_rust())
    }

    fn returned(&self) -> Option<Type> {
        self.result.clone()
    }

    fn type_of_name(&self, name: &str) -> Option<Type> {
        let found = self.program.local_variable(self.frame.as_ref()?, name);
        found.map(|variable| variable.r#type)
    }

    fn type_of_argument(&self, position: u8) -> Option<Type> {
        let frame = self.frame.as_ref()?;
        let index = usize::from(position).checked_sub(1)?;
        let (module, function) = (frame.module.as_ref()?, frame.function.as_ref()?);
        let parameters = match &frame.arguments {
            Some(arguments) => arguments.to_vec(),
            None => module.symbols.parameters(function),
        };
        parameters
            .get(index)
            .map(|variable| variable.r#type.clone())
    }

    fn class_number(&self, class: &Type) -> Option<ClassNumber> {
        Some(self.program.modules.number_of(class))
    }

    fn has_pretty_printer(&self, r#type: &Type) -> bool {
        self.program.pretty_printers.has(r#type)
    }

    fn knows_length(&self, r#type: &Type) -> bool {
        self.program.pretty_printers.know_length(r#type)
    }

    fn is_collection(&self, r#type: &Type) -> bool {
        self.program.pretty_printers.is_collection(r#type)
    }

    fn contents(&self, r#type: &Type) -> Option<Contents> {
        let types = |name: &str| Names::type_named(self, name);
        self.program.pretty_printers.contents(r#type, &types)
    }
}

/// Returns an argument at the first instruction of its function.
fn at_entry(r#type: Type, location: &EntryLocation) -> Option<Operand> {
    // The return address is between the stack pointer and the frame.
    let stack = |offset: i64| {
        Word::Register(dwarf::STACK_POINTER as u8)
            .offset(offset.wrapping_add(abi::RETURN_ADDRESS_BYTES as i64))
    };
    let [piece] = location.as_slice() else {
        return None;
    };
    let location = match &piece.location {
        EntryPieceLocation::Register(number) => OperandLocation::Bits(register_word(*number)?),
        EntryPieceLocation::Stack(offset) => OperandLocation::Memory(stack(*offset)),
        EntryPieceLocation::PointedByRegister(number) => {
            OperandLocation::Memory(register_word(*number)?)
        }
        EntryPieceLocation::PointedByStack(offset) => {
            OperandLocation::Memory(Word::Load(Box::new(stack(*offset)), 8))
        }
        EntryPieceLocation::Constant(bytes) => {
            let mut wide = [0; 8];
            wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
            OperandLocation::Bits(Word::Constant(u64::from_le_bytes(wide)))
        }
        EntryPieceLocation::RegisterPart { .. } | EntryPieceLocation::Unavailable(_) => {
            return None;
        }
    };
    let is_composite = matches!(r#type.strip().kind(), TypeKind::Composite(_));
    let in_register = matches!(location, OperandLocation::Bits(_));
    (!(in_register && is_composite)).then(|| Operand::new(r#type, location))
}

fn register_word(number: u16) -> Option<Word> {
    if dwarf::is_unwound(number) {
        Some(Word::Register(number as u8))
    } else {
        dwarf::vector_index(number).map(|index| Word::Vector(index as u8))
    }
}
