//! Calls all queries of a symbol file, a bounded number of times.

use crate::noise::Noise;
use juror_arch::dwarf;
use juror_symbols::{Memory, Parameter, Registers, SymbolFile, Type, TypeKind, Variable};

/// Calls all queries.
pub fn look_at(file: &SymbolFile, noise: Noise) {
    let header = file.header();
    let _ = (
        header.is_position_independent(),
        header.is_code(header.entry),
    );
    let _ = (file.has_debug_info(), file.debug_file_path());
    // Names are searched until the index exists; lists of names build it.
    look_for_names(file);
    let mut sources = file.source_files();
    sources.truncate(2);
    let mut functions: Vec<_> = file.functions().take(16).collect();
    let mut names: Vec<String> = functions.iter().map(|f| f.name.to_string()).collect();
    names.extend(["main", "a::b", "puts@plt"].map(str::to_owned));
    for name in &names {
        functions.extend(file.functions_named(name).into_iter().take(2));
        file.inlined_copies(name);
    }
    functions.truncate(32);
    for function in &functions {
        let plans = (
            file.prologue_end(function),
            file.line_ranges(function),
            file.entry_value_plans(function),
            file.return_value_plan(function),
            file.entry_value_plan(function, Parameter::Position(2)),
        );
        drop(plans);
        for parameter in file.parameters(function).iter().take(8) {
            look_at_variable(parameter, function.low_pc, noise);
            let _ = file.entry_value_plan(function, Parameter::Name(&parameter.name));
        }
        let middle = function.low_pc.wrapping_add(function.size() / 2);
        for address in [function.low_pc, middle, function.high_pc()] {
            look_at_address(file, address, noise);
        }
    }
    for address in [0, 1, header.entry, u64::MAX] {
        look_at_address(file, address, noise);
    }
    for name in file.type_names().iter().take(16) {
        if let Some(found) = file.type_named(name) {
            look_at_type(&found, 3, &mut 64);
        }
    }
    for name in file.global_names().iter().take(16) {
        for variable in file.globals_named(name).iter().take(2) {
            look_at_variable(variable, 0, noise);
        }
        file.data_symbol(name);
    }
    for source in &sources {
        for line in [1, 7, u32::MAX] {
            file.addresses_of_line(&source.to_string_lossy(), line);
        }
    }
}

/// Calls the queries by name.
fn look_for_names(file: &SymbolFile) {
    for name in ["main", "weigh", "list", "total", "GREEN"] {
        let found = (
            file.functions_named(name),
            file.inlined_copies(name),
            file.type_named(name).map(|it| it.size()),
            file.globals_named(name),
            file.enumerator_named(name),
        );
        drop(found);
    }
    let _ = file.addresses_of_line("seeds.c", 7);
}

/// Calls all queries about an address.
pub fn look_at_address(file: &SymbolFile, address: u64, noise: Noise) {
    let answers = (
        file.function_at(address),
        file.symbol_at(address),
        file.line_at(address),
        file.step_ranges(address),
        file.inlined_frames(address),
        file.bytes_at(address, 64),
    );
    drop(answers);
    look_at_call(file, address, noise);
    walk_stack(file, address, noise);
    for scope in file.locals_at(address).iter().take(4) {
        for variable in scope.variables.iter().take(8) {
            look_at_variable(variable, address, noise);
        }
    }
}

/// Calls the queries about the call that returns to an address.
fn look_at_call(file: &SymbolFile, address: u64, noise: Noise) {
    let Some(site) = file.call_returning_to(address) else {
        return;
    };
    for register in 0..=dwarf::INSTRUCTION_POINTER {
        let _ = site.passed(register, &noise);
    }
    drop((site.callee(), site.target(&noise), site.jump()));
    if let Some(function) = file.function_at(address) {
        let jumps = file.tail_calls(&function).unwrap_or_default();
        drop(
            jumps
                .iter()
                .map(|it| (it.callee(), it.jump()))
                .collect::<Vec<_>>(),
        );
    }
}

/// Unwinds a few frames.
pub fn walk_stack(file: &SymbolFile, address: u64, noise: Noise) {
    let mut registers = Registers::default();
    for number in 0..=dwarf::INSTRUCTION_POINTER {
        let mut word = [0; 8];
        if noise.read(u64::from(number) * 8, &mut word) {
            registers.set(number, Some(u64::from_le_bytes(word)));
        }
    }
    let mut at = address;
    for _ in 0..8 {
        let Ok(frame) = file.unwind(at, &registers, &noise) else {
            break;
        };
        registers = frame.registers;
        let Some(back) = registers.get(dwarf::INSTRUCTION_POINTER) else {
            break;
        };
        at = back.wrapping_sub(1);
    }
}

/// Calls all queries about a variable.
pub fn look_at_variable(variable: &Variable, address: u64, noise: Noise) {
    let _ = variable.location.evaluate(address, &noise);
    look_at_type(&variable.r#type, 3, &mut 64);
}

/// Calls all queries about a type and its parts.
pub fn look_at_type(of: &Type, depth: u8, budget: &mut u32) {
    let answers = (
        of.name(),
        of.size(),
        of.declaration("x"),
        of.strip(),
        of.target(),
        of.field("value"),
    );
    drop(answers);
    *budget = budget.saturating_sub(1);
    if depth == 0 || *budget == 0 {
        return;
    }
    of.field_names();
    match of.kind() {
        TypeKind::Composite(composite) => {
            for field in composite.fields.iter().take(8) {
                look_at_type(&field.r#type, depth - 1, budget);
            }
        }
        TypeKind::Pointer(inner) | TypeKind::Typedef(inner) | TypeKind::Const(inner) => {
            look_at_type(&inner, depth - 1, budget);
        }
        TypeKind::Array { element, .. } => look_at_type(&element, depth - 1, budget),
        _ => {}
    }
}
