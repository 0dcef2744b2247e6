//! Whatever is in a file: no panic, no endless loop, no huge allocation.

use juror_arch::{abi, dwarf};
use juror_symbols::{EvaluationContext, Memory, Parameter, Registers, SymbolFile, Type, TypeKind};
use object::{Object, ObjectSection};
use proptest::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

const PROGRAM: &str = r#"
struct list { struct list *next; int value; union { int i; float f; }; unsigned bits : 3; };
enum color { RED, GREEN };
typedef int (*compare_t)(const void *, const void *);
static int total;
static inline int weigh(struct list *list) { total += list->value; return list->value; }
__attribute__((noinline)) int walk(struct list *list, compare_t compare, double scale, enum color color) {
    int sum = (int)scale + color;
    for (; list; list = list->next) { int weight = weigh(list); sum += weight; }
    return sum + (compare != 0);
}
int main(int argc, char **argv) { struct list list = {0, argc}; return walk(&list, 0, 1.5, RED); }
"#;

/// A small program and where in it the sections stand that are read here.
struct Sound {
    bytes: Vec<u8>,
    sections: Vec<Range<usize>>,
}

/// Small programs, sound: the bytes that are then damaged.
static SOUND: LazyLock<Vec<Sound>> = LazyLock::new(|| {
    let options: [&[&str]; 4] = [
        &["-O2", "-gdwarf-5", "-nostdlib", "-Wl,-emain"],
        &["-O0", "-gdwarf-4", "-nostdlib", "-Wl,-emain"],
        &["-O1", "-gdwarf-5", "-gz=zlib", "-nostdlib", "-Wl,-emain"],
        &["-O1", "-gdwarf-5", "-fno-asynchronous-unwind-tables"],
    ];
    options
        .iter()
        .filter_map(|options| crate::support::compile("gcc", "program.c", PROGRAM, options))
        .map(|program| {
            let bytes = std::fs::read(&program.path).unwrap();
            let sections = sections(&bytes);
            Sound { bytes, sections }
        })
        .collect()
});

fn sections(bytes: &[u8]) -> Vec<Range<usize>> {
    let file = object::read::elf::ElfFile64::<object::LittleEndian>::parse(bytes).unwrap();
    file.sections()
        .filter(|section| {
            let name = section.name().unwrap_or("");
            [".debug", ".eh_frame", ".symtab", ".strtab", ".rela", ".dyn"]
                .iter()
                .any(|start| name.starts_with(start))
        })
        .filter_map(|section| section.file_range())
        .map(|(start, size)| start as usize..(start + size) as usize)
        .filter(|range| !range.is_empty())
        .collect()
}

struct Anything;

impl Memory for Anything {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        buffer.fill(address as u8);
        !address.is_multiple_of(3)
    }
}

impl EvaluationContext for Anything {
    fn register(&self, number: u16) -> Option<u64> {
        (!number.is_multiple_of(5)).then_some(u64::from(number) << 40)
    }
    fn cfa(&self) -> Option<u64> {
        Some(u64::MAX)
    }
    fn load_bias(&self) -> u64 {
        u64::MAX - 5
    }
    fn entry_value(&self, register: u16) -> Option<u64> {
        Some(u64::from(register))
    }
}

fn look_at_type(of: &Type, depth: u8) {
    let _ = (
        of.name(),
        of.size(),
        of.declaration("x"),
        of.strip(),
        of.target(),
        of.field_names(),
    );
    let _ = of.field("value");
    if depth == 0 {
        return;
    }
    match of.kind() {
        TypeKind::Composite(composite) => {
            for field in composite.fields.iter().take(8) {
                look_at_type(&field.r#type, depth - 1);
            }
        }
        TypeKind::Pointer(inner) | TypeKind::Typedef(inner) | TypeKind::Const(inner) => {
            look_at_type(&inner, depth - 1);
        }
        TypeKind::Array { element, .. } => look_at_type(&element, depth - 1),
        _ => {}
    }
}

/// Calls everything.
fn look_at(path: &Path) {
    let Ok(file) = SymbolFile::open(path) else {
        return;
    };
    let _ = (
        file.header().is_position_independent(),
        file.has_debug_info(),
        file.source_files(),
    );
    let _ = (
        file.function_names().count(),
        file.type_names(),
        file.global_names(),
    );
    let mut registers = Registers::default();
    registers.set(dwarf::STACK_POINTER, Some(0x7000));
    registers.set(dwarf::FRAME_POINTER, Some(0x7100));
    let mut functions: Vec<_> = file.functions().take(40).collect();
    for name in ["walk", "main", "weigh", "list::walk", "x@plt"] {
        functions.extend(file.functions_named(name));
        let _ = file.inlined_copies(name);
        functions.extend(file.functions_with(&[name]).into_iter().flatten());
    }
    for function in functions {
        let _ = (
            file.prologue_end(&function),
            file.line_ranges(&function),
            function.size(),
        );
        for parameter in file.parameters(&function) {
            look_at_type(&parameter.r#type, 4);
            let _ = file.entry_value_plan(&function, Parameter::Name(&parameter.name));
        }
        let _ = (
            file.entry_value_plans(&function),
            file.return_value_plan(&function),
        );
        let middle = function.low_pc.wrapping_add(function.size() / 2);
        for pc in [
            function.low_pc,
            function.low_pc.wrapping_add(4),
            middle,
            function.high_pc(),
        ] {
            let _ = (
                file.function_at(pc),
                file.symbol_at(pc),
                file.line_at(pc),
                file.step_ranges(pc),
            );
            let _ = (
                file.inlined_frames(pc),
                file.unwind(pc, &registers, &Anything),
            );
            if let Some(site) = file.call_returning_to(pc) {
                let called = (site.callee(), site.target(&Anything));
                let _ = (called, site.passed(abi::INTEGER_ARGUMENTS[0], &Anything));
            }
            for site in file.tail_calls(&function).into_iter().flatten() {
                let _ = (site.jump(), site.callee(), site.target(&Anything));
            }
            for scope in file.locals_at(pc) {
                for variable in scope.variables {
                    let _ = variable.location.evaluate(pc, &Anything);
                    look_at_type(&variable.r#type, 3);
                }
            }
        }
    }
    for line in [1, 7, 9, u32::MAX] {
        let _ = file.addresses_of_line("program.c", line);
    }
    for name in ["struct list", "enum color", "compare_t", "int *"] {
        if let Some(found) = file.type_named(name) {
            look_at_type(&found, 4);
        }
    }
    for variable in file.globals_named("total") {
        let _ = variable.location.evaluate(0, &Anything);
    }
    let _ = (
        file.data_symbol("total"),
        file.bytes_at(file.header().entry, 64),
    );
}

proptest! {
    #![proptest_config(juror_testing::with_cases(300))]

    #[test]
    fn damaged_programs_do_no_harm(
        which in 0usize..4,
        section in prop::option::weighted(0.8, any::<prop::sample::Index>()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let Some(sound) = SOUND.get(which) else { return Ok(()) };
        let mut bytes = sound.bytes.clone();
        let place = match section {
            Some(section) => sound.sections[section.index(sound.sections.len())].clone(),
            None => 0..bytes.len(),
        };
        for (at, value) in damage {
            bytes[place.start + at.index(place.len())] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("program");
        std::fs::write(&path, &bytes).unwrap();
        look_at(&path);
    }
}

#[test]
fn sound_programs_are_looked_at_whole() {
    for Sound { bytes, .. } in SOUND.iter() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("program");
        std::fs::write(&path, bytes).unwrap();
        look_at(&path);
    }
}

/// A table of lines that is damaged hides lines, and nothing else.
#[test]
fn entries_are_found_without_their_lines() {
    for options in [["-O0", "-gdwarf-4"], ["-O0", "-gdwarf-5"]] {
        let Some(program) = crate::support::compile("gcc", "program.c", PROGRAM, &options) else {
            continue;
        };
        let mut bytes = std::fs::read(&program.path).unwrap();
        let lines = {
            let file = object::File::parse(&*bytes).unwrap();
            let section = file.section_by_name(".debug_line").unwrap();
            let (start, size) = section.file_range().unwrap();
            start as usize..(start + size) as usize
        };
        bytes[lines].fill(0xff);
        let path = program.directory.path().join("damaged");
        std::fs::write(&path, bytes).unwrap();
        let file = SymbolFile::open(&path).unwrap();
        let [walk] = &file.functions_named("walk")[..] else {
            panic!("no function: {}", program.how);
        };
        assert!(walk.has_debug_info(), "{}", program.how);
        assert_eq!(file.parameters(walk).len(), 4, "{}", program.how);
        assert_eq!(file.functions_with(&["alk"]), Some(vec![walk.clone()]));
        assert_eq!(file.line_at(walk.low_pc), None, "{}", program.how);
    }
}
