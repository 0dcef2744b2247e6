//! ELF and DWARF for the debugger: names, lines, types, locations, unwinding.
//!
//! A [`SymbolFile`] is one program or shared library on disk. The crate knows nothing of
//! processes: it reads the registers and memory of a running one through the small traits
//! [`Memory`] and [`EvaluationContext`].
//!
//! All addresses are *file* addresses, as the linker wrote them; the caller adds the load
//! bias. The exceptions, each documented, are values of registers and addresses computed by
//! evaluating a location.
//!
//! **Invariant:** opening a file reads its headers only; everything else is read on first
//! use and kept. No input causes a panic, an endless loop or an unbounded allocation. A
//! damaged part is ignored without hiding the sound parts.
//!
//! Sources: the *DWARF Debugging Information Format*, versions 4 and 5, and the *System V
//! Application Binary Interface, AMD64 Architecture Processor Supplement*.

#![forbid(unsafe_code)]

mod answers;
mod assembly;
mod cache;
mod call;
mod calls;
mod dwarf;
mod elf;
mod error;
mod file;
mod function;
mod inline;
mod inline_namespaces;
mod labels;
mod line;
mod local_types;
mod locals;
mod location;
mod names;
mod outer_functions;
mod parameters;
mod scopes;
mod separate;
mod settings;
mod source_files;
mod source_paths;
mod source_rules;
mod statics;
mod types;
mod unit_description;
mod unwind;
mod variable;

pub use assembly::{Assembly, disassemble};
pub use call::{
    ArgumentClass, CallSite, Callee, EntryError, EntryLocation, EntryPath, EntryPiece,
    EntryPieceLocation, EntryStep, EntryUnavailable, EntryValue, JumpAddresses, KeptLocation,
    OutgoingCall, Parameter, ReturnValue, Signature, argument_plan, outgoing_call_of_c,
};
pub use calls::{CallInstruction, CallTarget, calls_ahead};
pub use elf::{Binding, FileKind, Header, Segment, ThreadLocalStorage};
pub use error::SymbolError;
pub use file::SymbolFile;
pub use function::{Function, FunctionEntry};
pub use inline::{Beginning, Doubt, InlinedCall, InlinedCopy, InlinedFrame, Order, OutlinedPart};
pub use labels::Label;
pub use line::{Line, LineAddresses, is_path_of};
pub use local_types::LocalType;
pub use location::{
    DroppedParameter, EvaluationContext, FixedLocation, Location, LocationError, Memory, Piece,
    ValueLocation,
};
pub use names::{
    demangle, enclosing_scopes, is_name_of, is_whole_name_of, omits_template_arguments,
    scope_and_name, without_parameters,
};
pub use scopes::{Imports, Level};
pub use settings::{Cache, SymbolSettings};
pub use source_rules::SourceRules;
pub use types::{
    AbiLayout, Access, ArrayIndex, Base, BitField, Character, ClassMember, ClassMemberKind,
    ClassName, Composite, CompositeKind, DeclaredField, Encoding, Enumerator, EnumeratorCandidate,
    Field, Method, TemplateArgument, Type, TypeKind, Variant, VariantPart, VirtualStep,
    VtableOwner, is_base_type, is_instance, processor_flags, signal_information, standard_name,
    vector_control, vector_register,
};
pub use unit_description::UnitDescription;
pub use unwind::{Registers, UnwindError, UnwindMethod, Unwound, unwind_without_file};
pub use variable::{GlobalCandidate, Scope, ScopeKind, Variable};
