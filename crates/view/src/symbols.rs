//! Views of `info frame`, `info line`, `info source`, `info symbol`, `info address`, `info scope`,
//! `whatis` and `ptype`: frames, lines, symbols, scopes and types.

use serde::Serialize;

/// A source line and its code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LineView {
    /// The source file, as the debug information names it; absent without line information.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// Whether the code has no line: `line` is then the preceding one in the function.
    pub compiler_generated: bool,
    /// The address of the instruction, or of the line's first instruction.
    pub address: u64,
    /// The address as `function+4`.
    pub name: Option<String>,
    /// The address after the line's last instruction, if a line was asked for.
    pub end_address: Option<u64>,
    /// That address as `function+4`.
    pub end_name: Option<String>,
}

/// The source file of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceFileView {
    /// The line of the frame.
    pub line: LineView,
    /// The number of lines of the file; absent if it cannot be read.
    pub line_count: Option<u32>,
    /// A remark about the file, such as that it is newer than the program.
    pub remark: Option<String>,
    /// The compilation unit, if there is debug information.
    pub unit: Option<CompilationUnitView>,
}

/// A compilation unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompilationUnitView {
    /// The primary source file, as given to the compiler.
    pub name: Option<String>,
    /// The compiler's working directory.
    pub directory: Option<String>,
    /// The language with its version, such as `C++14`.
    pub language: Option<String>,
    /// The DWARF version.
    pub dwarf_version: u16,
    /// The compiler, with its options if recorded.
    pub producer: Option<String>,
}

/// The symbol at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SymbolView {
    /// The address.
    pub address: u64,
    /// The symbol with the offset from it: `queue_push+4`.
    pub name: Option<String>,
    /// The module's file name, without directories.
    pub module: Option<String>,
}

/// The address of a variable or function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddressView {
    /// The variable or function, as written.
    pub expression: String,
    /// Its address; absent for a value that is not in memory.
    pub address: Option<u64>,
    /// Whether it is a function.
    pub is_function: bool,
}

/// The variables and labels that are visible at a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeView {
    /// The function.
    pub function: String,
    /// Its parameters and variables.
    pub variables: Vec<ScopeVariableView>,
    /// Its labels.
    pub labels: Vec<LabelView>,
}

/// A variable of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeVariableView {
    /// The name.
    pub name: String,
    /// Its declaration: `int count`.
    pub declaration: String,
    /// It is a parameter.
    pub is_parameter: bool,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// Its storage.
    pub storage: StorageView,
}

/// The storage of a variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StorageView {
    /// The kind of storage: says which of the other fields are present.
    pub kind: StorageKind,
    /// The register that holds it or its address.
    pub register: Option<String>,
    /// The offset from the register or the canonical frame address.
    pub offset_bytes: Option<i64>,
    /// The address in the module's file.
    pub file_address: Option<u64>,
    /// The value of a constant.
    pub value: Option<u64>,
}

/// A kind of storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// In a register.
    Register,
    /// In memory, at an offset from a register.
    RegisterOffset,
    /// In memory, at an offset from the canonical frame address.
    FrameOffset,
    /// In memory, at an address of the module's file.
    Static,
    /// Nowhere: the debug information has its value.
    Constant,
    /// Optimized out.
    OptimizedOut,
    /// In a location that is computed.
    #[default]
    Computed,
}

/// A label of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelView {
    /// The name.
    pub name: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The address in the module's file.
    pub file_address: u64,
}

/// A type, of a value or by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeView {
    /// The function with its parameters, if the type is that of a function.
    pub function: Option<String>,
    /// The name of the type, as the language writes it.
    pub name: String,
    /// The definition in the language, if asked for.
    pub definition: Option<String>,
}

/// A frame in detail, as `info frame` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FrameInfoView {
    /// 0 is the innermost.
    pub level: usize,
    /// Its instruction pointer and function.
    pub code: FrameCodeView,
    /// The source file, as the debug information names it.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The kind of a special frame.
    pub kind: Option<FrameKind>,
    /// The canonical frame address: the caller's stack pointer.
    pub canonical_frame_address: Option<u64>,
    /// The frame that it returns to.
    pub caller: Option<FrameCodeView>,
    /// The frame that it called.
    pub callee: Option<FrameCodeView>,
    /// The registers of the caller that are saved in memory.
    pub saved_registers: Vec<SavedRegisterView>,
}

/// The code of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FrameCodeView {
    /// The function.
    pub function: Option<String>,
    /// The instruction pointer.
    pub address: u64,
    /// The address as `function+4`.
    pub name: Option<String>,
}

/// A special frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// An inlined call, which shares the frame of its caller.
    Inlined,
    /// It ended in a jump (a tail call): nothing of it is in memory.
    TailCall,
    /// A signal interrupted it.
    Interrupted,
    /// Its caller cannot be found.
    Cut,
    /// It was found without unwind information.
    Guess,
}

/// A saved register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavedRegisterView {
    /// The register.
    pub register: String,
    /// The address of the saved value.
    pub address: u64,
}
