//! Frames, lines, symbols, scopes, types, modules and processes in detail, as text.

use crate::page::Page;
use crate::tables::write_message;
use juror_arch::names;
use juror_view::{
    AddressView, AuxiliaryEntryView, AuxiliaryKind, FrameCodeView, FrameInfoView, FrameKind,
    LineView, Location, MappingView, ModuleView, ProcessInfoView, ProgramView, ScopeVariableView,
    ScopeView, SourceFileView, StorageKind, StorageView, SymbolView, TypeView,
};
use std::fmt::Write as _;

/// Returns the last part of a path.
fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Returns `0x401136 <queue_push+4>`.
fn named(address: u64, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{address:#x} <{name}>"),
        None => format!("{address:#x}"),
    }
}

fn write_lines(page: &mut Page, lines: &[String]) {
    write_message(page, &lines.join("\n"));
}

/// Writes `info frame`.
pub fn write_frame_info(page: &mut Page, view: &FrameInfoView) {
    let code = &view.code;
    let place = match (&view.file, view.line) {
        (Some(file), Some(line)) => format!(" at {}:{line}", base_name(file)),
        _ => String::new(),
    };
    let mut lines = vec![
        format!("#{}  {}{place}", view.level, function_of(code)),
        format!(
            "{} is {}",
            names::INSTRUCTION_POINTER,
            named(code.address, code.name.as_deref())
        ),
    ];
    lines.extend(view.kind.map(|kind| frame_kind(kind).to_owned()));
    lines.extend(view.canonical_frame_address.map(|address| {
        format!("the frame is at {address:#x}, which is the stack pointer of its caller")
    }));
    lines.extend(view.caller.as_ref().map(|caller| {
        let address = named(caller.address, caller.name.as_deref());
        format!("it returns to {address}, in {}", function_of(caller))
    }));
    let callee = view.callee.as_ref();
    lines.extend(callee.map(|callee| format!("it has called {}", function_of(callee))));
    if !view.saved_registers.is_empty() {
        let saved = view.saved_registers.iter();
        let saved: Vec<String> = saved
            .map(|it| format!("{} at {:#x}", it.register, it.address))
            .collect();
        lines.push(format!("saved registers: {}", saved.join(", ")));
    }
    write_lines(page, &lines);
}

fn function_of(code: &FrameCodeView) -> &str {
    let function = code.function.as_deref();
    function.unwrap_or("a function without a name")
}

fn frame_kind(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Inlined => "it is an inlined call: the frame in memory is that of its caller",
        FrameKind::TailCall => "it has ended in a jump: nothing of it is in memory",
        FrameKind::Interrupted => "a signal has interrupted it",
        FrameKind::Cut => "its caller cannot be found: the backtrace ends here",
        FrameKind::Guess => "it was found without unwind information: a guess",
    }
}

/// Writes `info line`.
pub fn write_line_views(page: &mut Page, lines: &[LineView]) {
    let lines: Vec<String> = lines.iter().map(|it| line_words(it, false)).collect();
    write_lines(page, &lines);
}

fn line_words(view: &LineView, with_directory: bool) -> String {
    let (Some(file), Some(line)) = (&view.file, view.line) else {
        return format!("there is no line information for {:#x}", view.address);
    };
    let file = if with_directory {
        file
    } else {
        base_name(file)
    };
    let start = named(view.address, view.name.as_deref());
    if let Some(end) = view.end_address {
        let end = named(end, view.end_name.as_deref());
        return format!("line {line} of {file} begins at {start} and ends before {end}");
    }
    let near = if view.compiler_generated {
        "compiler-generated code near "
    } else {
        ""
    };
    format!("{near}line {line} of {file}, at {start}")
}

/// Writes `info line` of a recording.
pub fn write_location(page: &mut Page, location: &Location) {
    let file = location.file.as_deref().unwrap_or("an unknown file");
    let line = location.line;
    let line = line.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let function = location.function.as_deref();
    let within = function.map_or_else(String::new, |it| format!(", in {it}"));
    write_message(page, &format!("line {line} of {file}{within}"));
}

/// Writes `info source`.
pub fn write_source_file(page: &mut Page, view: &SourceFileView) {
    let mut lines = vec![line_words(&view.line, true)];
    if view.line.file.is_some() {
        lines.push(match (view.line_count, &view.remark) {
            (None, _) => {
                "the file is not there; set substitute-path FROM TO says where it is now".to_owned()
            }
            (Some(count), remark) => {
                let plural = if count == 1 { "" } else { "s" };
                let remark = remark.as_ref().map(|remark| format!("; {remark}"));
                format!("{count} line{plural}{}", remark.unwrap_or_default())
            }
        });
    }
    if let Some(unit) = &view.unit {
        match (&unit.name, &unit.directory) {
            (Some(name), Some(directory)) => {
                lines.push(format!("compiled as {name} in {directory}"))
            }
            (Some(name), None) => lines.push(format!("compiled as {name}")),
            (None, _) => {}
        }
        let language = unit.language.as_deref().unwrap_or("unknown");
        lines.push(format!("language {language}, DWARF {}", unit.dwarf_version));
        let producer = unit.producer.as_ref();
        lines.extend(producer.map(|it| format!("compiler {it}")));
    }
    write_lines(page, &lines);
}

/// Writes `info symbol`.
pub fn write_symbol(page: &mut Page, view: &SymbolView) {
    let address = view.address;
    let text = match (&view.name, &view.module) {
        (Some(name), Some(module)) => format!("{address:#x} is {name} in {module}"),
        (None, Some(module)) => format!("{address:#x} has no symbol; it is in {module}"),
        (_, None) => format!("{address:#x} is in no module"),
    };
    write_message(page, &text);
}

/// Writes `info address`.
pub fn write_address(page: &mut Page, view: &AddressView) {
    let name = &view.expression;
    let text = match view.address {
        Some(address) if view.is_function => format!("{name} is a function at {address:#x}"),
        Some(address) => format!("{name} is at {address:#x}"),
        None => format!("{name} is nowhere in memory: in a register, or known without one"),
    };
    write_message(page, &text);
}

/// Writes `info scope`.
pub fn write_scope(page: &mut Page, view: &ScopeView) {
    let mut lines: Vec<String> = view.variables.iter().map(variable_words).collect();
    for label in &view.labels {
        let line = label.line.map(|line| format!(", line {line}"));
        lines.push(format!(
            "label {}{}, at {:#x} of the file",
            label.name,
            line.unwrap_or_default(),
            label.file_address
        ));
    }
    if lines.is_empty() {
        lines.push(format!("no variables are known in {}", view.function));
    }
    write_lines(page, &lines);
}

fn variable_words(view: &ScopeVariableView) -> String {
    let kind = if view.is_parameter {
        "parameter"
    } else {
        "variable"
    };
    let size = match view.size_bytes {
        Some(1) => ", 1 byte".to_owned(),
        Some(size) => format!(", {size} bytes"),
        None => String::new(),
    };
    let declaration = &view.declaration;
    format!(
        "{kind} {declaration}{size}, {}",
        storage_words(&view.storage)
    )
}

fn storage_words(storage: &StorageView) -> String {
    let register = storage.register.as_deref().unwrap_or_default();
    let offset = storage.offset_bytes.unwrap_or_default();
    match storage.kind {
        StorageKind::Register => format!("in ${register}"),
        StorageKind::RegisterOffset => format!("in memory at ${register}{offset:+}"),
        StorageKind::FrameOffset => {
            format!("in memory at the canonical frame address {offset:+}")
        }
        StorageKind::Static => {
            let address = storage.file_address.unwrap_or_default();
            format!("in memory at {address:#x} of the file")
        }
        StorageKind::Constant => format!("nowhere; it is {}", storage.value.unwrap_or_default()),
        StorageKind::OptimizedOut => "optimized out".to_owned(),
        StorageKind::Computed => "in a computed location".to_owned(),
    }
}

/// Writes `whatis` and `ptype`.
pub fn write_types(page: &mut Page, types: &[TypeView]) {
    let is_one = types.len() == 1;
    let words = |view: &TypeView| {
        let text = view.definition.as_ref().unwrap_or(&view.name);
        match &view.function {
            Some(function) if !is_one => format!("{function}: {text}"),
            _ => text.clone(),
        }
    };
    write_lines(page, &types.iter().map(words).collect::<Vec<_>>());
}

/// Writes `info sharedlibrary`.
pub fn write_modules(page: &mut Page, modules: &[ModuleView]) {
    let words = |module: &ModuleView| {
        let symbols = if module.has_debug_info {
            "debug information"
        } else {
            "symbols only"
        };
        format!("{:#018x}  {symbols:<17}  {}", module.load_bias, module.path)
    };
    write_lines(page, &modules.iter().map(words).collect::<Vec<_>>());
}

/// Writes `info program`.
pub fn write_program(page: &mut Page, view: &ProgramView) {
    let origin = if view.attached {
        "was there before juror"
    } else {
        "was started by juror"
    };
    let count = view.thread_count;
    let threads = if count == 1 { "thread" } else { "threads" };
    let at = &view.location;
    let address = at.address;
    let place = match (&at.function, &at.file, at.line) {
        (Some(function), Some(file), Some(line)) => {
            format!("{address:#x}: {function}, {}:{line}", base_name(file))
        }
        (Some(function), ..) => format!("{address:#x}: {function}"),
        _ => format!("{address:#x}"),
    };
    write_lines(
        page,
        &[
            format!(
                "process {} {origin}; it has {count} {threads}",
                view.process
            ),
            format!("thread {} is selected, at {place}", view.thread),
        ],
    );
}

/// Writes `info proc`.
pub fn write_process_info(page: &mut Page, view: &ProcessInfoView) {
    let mut text = String::new();
    if view.command_line.is_some() && view.program.is_some() {
        let _ = writeln!(text, "process {}", view.process);
    }
    if let Some(words) = &view.command_line {
        let _ = writeln!(text, "command    {}", words.join(" "));
    }
    if let Some(directory) = &view.directory {
        let _ = writeln!(text, "directory  {directory}");
    }
    if let Some(program) = &view.program {
        let _ = writeln!(text, "program    {program}");
    }
    for line in view.environment.iter().flatten() {
        let _ = writeln!(text, "{line}");
    }
    for file in view.files.iter().flatten() {
        let _ = writeln!(text, "{:<4} {}", file.descriptor, file.file);
    }
    for line in view.limits.iter().chain(&view.status).flatten() {
        let _ = writeln!(text, "{line}");
    }
    if let Some(mappings) = &view.mappings {
        text.push_str(&mapping_table(mappings));
    }
    write_message(page, text.trim_end());
}

fn mapping_table(mappings: &[MappingView]) -> String {
    let mut table = format!(
        "{:<18} {:<18} {:>10} {:>10} {:<5} {}\n",
        "start", "end", "size", "offset", "may", "what"
    );
    for mapping in mappings {
        let (start, end) = (mapping.start, mapping.end);
        let (size, offset) = (end.saturating_sub(start), mapping.offset_bytes);
        let (may, name) = (&mapping.permissions, &mapping.name);
        let row = format!("{start:#018x} {end:#018x} {size:>#10x} {offset:>#10x} {may:<5} {name}");
        table.push_str(row.trim_end());
        table.push('\n');
    }
    table
}

/// Writes `info auxv`.
pub fn write_auxiliary_vector(page: &mut Page, entries: &[AuxiliaryEntryView]) {
    let words = |entry: &AuxiliaryEntryView| {
        let (number, name, value) = (entry.number, &entry.name, entry.value);
        let shown = match (entry.kind, &entry.text) {
            (AuxiliaryKind::Number, _) => value.to_string(),
            (AuxiliaryKind::String, Some(text)) => format!("{value:#x} \"{text}\""),
            _ => format!("{value:#x}"),
        };
        format!("{number:<3} {name:<21} {shown}")
    };
    let lines: Vec<String> = entries.iter().map(words).collect();
    write_message(page, lines.join("\n").trim_end());
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::stops::samples::location;
    use juror_view::{CompilationUnitView, LabelView, OpenFileView, SavedRegisterView};

    fn code(function: &str) -> FrameCodeView {
        FrameCodeView {
            function: Some(function.into()),
            address: 0x401136,
            name: Some(format!("{function}+4")),
        }
    }

    pub fn frame_info() -> FrameInfoView {
        FrameInfoView {
            level: 1,
            code: code("fill"),
            file: Some("/home/user/src/main.c".into()),
            line: Some(17),
            kind: Some(FrameKind::Guess),
            canonical_frame_address: Some(0x7ffe10),
            caller: Some(code("main")),
            callee: Some(FrameCodeView::default()),
            saved_registers: vec![SavedRegisterView {
                register: "rip".into(),
                address: 0x7ffe08,
            }],
        }
    }

    pub fn line() -> LineView {
        LineView {
            file: Some("/home/user/src/main.c".into()),
            line: Some(17),
            compiler_generated: false,
            address: 0x401136,
            name: Some("fill+4".into()),
            end_address: Some(0x401140),
            end_name: None,
        }
    }

    pub fn source_file() -> SourceFileView {
        SourceFileView {
            line: LineView {
                end_address: None,
                compiler_generated: true,
                ..line()
            },
            line_count: Some(40),
            remark: Some("it is newer than the program".into()),
            unit: Some(CompilationUnitView {
                name: Some("main.c".into()),
                directory: Some("/home/user/src".into()),
                language: Some("C11".into()),
                dwarf_version: 5,
                producer: Some("GNU C17".into()),
            }),
        }
    }

    pub fn symbol() -> SymbolView {
        SymbolView {
            address: 0x401136,
            name: Some("fill+4".into()),
            module: Some("faulty".into()),
        }
    }

    pub fn address() -> AddressView {
        AddressView {
            expression: "count".into(),
            address: Some(0x404020),
            is_function: false,
        }
    }

    pub fn scope() -> ScopeView {
        ScopeView {
            function: "fill".into(),
            variables: vec![ScopeVariableView {
                name: "n".into(),
                declaration: "int n".into(),
                is_parameter: true,
                size_bytes: Some(4),
                storage: StorageView {
                    kind: StorageKind::RegisterOffset,
                    register: Some("rbp".into()),
                    offset_bytes: Some(-20),
                    file_address: None,
                    value: None,
                },
            }],
            labels: vec![LabelView {
                name: "again".into(),
                line: Some(20),
                file_address: 0x1140,
            }],
        }
    }

    pub fn types() -> Vec<TypeView> {
        vec![TypeView {
            function: Some("fill(int)".into()),
            name: "void (int)".into(),
            definition: None,
        }]
    }

    pub fn modules() -> Vec<ModuleView> {
        vec![ModuleView {
            path: "/lib/libc.so.6".into(),
            load_bias: 0x7f00_0000,
            has_debug_info: false,
        }]
    }

    pub fn program() -> ProgramView {
        ProgramView {
            process: 4711,
            attached: false,
            thread_count: 2,
            thread: 1,
            location: location("fill", "main.c", 17),
        }
    }

    pub fn process_info() -> ProcessInfoView {
        ProcessInfoView {
            process: 4711,
            command_line: Some(vec!["./faulty".into(), "8".into()]),
            directory: Some("/home/user".into()),
            program: Some("/home/user/faulty".into()),
            environment: Some(vec!["LANG=C".into()]),
            files: Some(vec![OpenFileView {
                descriptor: 1,
                file: "/dev/pts/3".into(),
            }]),
            limits: Some(vec!["Max stack size".into()]),
            status: Some(vec!["Name:\tfaulty".into()]),
            mappings: Some(vec![MappingView {
                start: 0x5555,
                end: 0x6555,
                offset_bytes: 0x1000,
                permissions: "r-xp".into(),
                name: "/home/user/faulty".into(),
            }]),
        }
    }

    pub fn auxiliary_vector() -> Vec<AuxiliaryEntryView> {
        let entry = |number: u64, name: &str, value, kind, text: Option<&str>| AuxiliaryEntryView {
            number,
            name: name.into(),
            value,
            kind,
            text: text.map(str::to_owned),
        };
        vec![
            entry(6, "AT_PAGESZ", 4096, AuxiliaryKind::Number, None),
            entry(9, "AT_ENTRY", 4096, AuxiliaryKind::Address, None),
            entry(31, "AT_EXECFN", 4096, AuxiliaryKind::String, Some("./f")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn mappings_are_a_table() {
        let mapping = |start, end, offset_bytes, permissions: &str, name: &str| MappingView {
            start,
            end,
            offset_bytes,
            permissions: permissions.into(),
            name: name.into(),
        };
        let mappings = [
            mapping(0x5555, 0x6555, 0x1000, "r-xp", "/home/me/a program"),
            mapping(0x7fff00, 0x7fff10, 0, "rw-p", ""),
            mapping(0xffff, 0xffff, 0, "zz", ""),
        ];
        assert_eq!(
            mapping_table(&mappings),
            "\
start              end                      size     offset may   what
0x0000000000005555 0x0000000000006555     0x1000     0x1000 r-xp  /home/me/a program
0x00000000007fff00 0x00000000007fff10       0x10        0x0 rw-p
0x000000000000ffff 0x000000000000ffff        0x0        0x0 zz
"
        );
    }

    #[test]
    fn a_frame_is_described_line_by_line() {
        assert_eq!(
            plain(|page| write_frame_info(page, &samples::frame_info())),
            "\
#1  fill at main.c:17
rip is 0x401136 <fill+4>
it was found without unwind information: a guess
the frame is at 0x7ffe10, which is the stack pointer of its caller
it returns to 0x401136 <main+4>, in main
it has called a function without a name
saved registers: rip at 0x7ffe08
"
        );
    }

    #[test]
    fn functions_are_named_if_there_are_several() {
        let mut types = samples::types();
        assert_eq!(plain(|page| write_types(page, &types)), "void (int)\n");
        types.push(types[0].clone());
        let shown = "fill(int): void (int)\nfill(int): void (int)\n";
        assert_eq!(plain(|page| write_types(page, &types)), shown);
    }
}
