//! Scopes of variables and the evaluation of their locations.

use crate::support::{Program, compile, compile_everywhere, line_of};
use juror_arch::{abi, dwarf};
use juror_symbols::{EvaluationContext, LocationError, Memory, Piece, ScopeKind, ValueLocation};

const CFA: u64 = 0x7fff_0000;
const BIAS: u64 = 0x5555_0000_0000;

/// A frame of which only the stack is known.
struct Frame;

impl Memory for Frame {
    fn read(&self, _address: u64, _buffer: &mut [u8]) -> bool {
        false
    }
}

impl EvaluationContext for Frame {
    fn register(&self, number: u16) -> Option<u64> {
        (number == dwarf::FRAME_POINTER).then_some(CFA - 16)
    }
    fn cfa(&self) -> Option<u64> {
        Some(CFA)
    }
    fn load_bias(&self) -> u64 {
        BIAS
    }
    fn tls_address(&self, offset: u64) -> Option<u64> {
        Some(0x1000 + offset)
    }
}

const PROGRAM: &str = r#"
int global = 1;
static int file_static = 2;
__thread int per_thread[2] = {3, 4};
volatile int sink;
int work(int count, char **words) {
    static int calls = 5;
    int sum = calls + file_static;
    {
        int sum = count;                    // inner declaration
        sink = sum;                         // inner
    }
    sink = per_thread[1] + (words != 0);
    return sum;                             // outer
}
int main(int argc, char **argv) { return work(argc, argv) + global; }
"#;

fn names_at(program: &Program, mark: &str) -> Vec<Vec<String>> {
    let found = program
        .file
        .addresses_of_line("program.c", line_of(PROGRAM, mark));
    program
        .file
        .locals_at(found[0].addresses[0])
        .iter()
        .map(|scope| {
            scope
                .variables
                .iter()
                .map(|variable| variable.name.to_string())
                .collect()
        })
        .collect()
}

#[test]
fn scopes_are_listed_from_the_inside_out() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let how = &program.how;
        let outer = names_at(&program, "// outer");
        assert_eq!(outer.len(), 1, "{how}");
        assert_eq!(outer[0][..2], ["count", "words"], "{how}");
        let mut rest = outer[0][2..].to_vec();
        rest.sort();
        assert_eq!(rest, ["calls", "sum"], "{how}");
        let inner = names_at(&program, "// inner");
        let inner = if inner.len() == 2 {
            inner
        } else {
            names_at(&program, "sink = sum;")
        };
        assert_eq!(inner.len(), 2, "{how}");
        assert_eq!(inner[0], ["sum"], "{how}");
    }
}

fn single(pieces: &[Piece]) -> &ValueLocation {
    assert_eq!(pieces.len(), 1, "{pieces:?}");
    &pieces[0].location
}

#[test]
fn variables_are_where_the_compiler_put_them() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let how = &program.how;
        let (address, _) = program.file.data_symbol("global").unwrap();
        let global = &program.file.globals_named("global")[0];
        let place = global.location.evaluate(0, &Frame).unwrap();
        assert_eq!(
            *single(&place),
            ValueLocation::Address(address + BIAS),
            "{how}"
        );
        assert_eq!(program.file.globals_named("file_static").len(), 1, "{how}");
        assert_eq!(
            program.file.globals_named("program.c::file_static").len(),
            1,
            "{how}"
        );
        let per_thread = &program.file.globals_named("per_thread")[0];
        let place = per_thread.location.evaluate(0, &Frame).unwrap();
        assert_eq!(*single(&place), ValueLocation::Address(0x1000), "{how}");
        let work = program.function("work");
        let pc = program.file.prologue_end(&work);
        for parameter in program.file.parameters(&work) {
            let place = parameter.location.evaluate(pc, &Frame).unwrap();
            let ValueLocation::Address(address) = *single(&place) else {
                panic!("{place:?} in {how}")
            };
            assert!((CFA - 200..CFA).contains(&address), "{address:#x} in {how}");
        }
    }
}

#[test]
fn optimized_values_are_in_registers_or_gone() {
    let source = r#"
volatile int sink;
__attribute__((noinline)) int work(int kept, int lost) {
    sink = lost;
    int constant = 7;
    sink = kept + constant;
    sink = 1;
    return kept;
}
int main(int argc, char **argv) { return work(argc, argc + 1); }
"#;
    for program in compile_everywhere(source, "-O2") {
        let how = &program.how;
        let work = program.function("work");
        let parameters = program.file.parameters(&work);
        let at = |index: usize, pc| parameters[index].location.evaluate(pc, &Frame);
        assert_eq!(
            *single(&at(0, work.low_pc).unwrap()),
            ValueLocation::Register(abi::INTEGER_ARGUMENTS[0]),
            "{how}"
        );
        assert_eq!(
            *single(&at(1, work.low_pc).unwrap()),
            ValueLocation::Register(abi::INTEGER_ARGUMENTS[1]),
            "{how}"
        );
        for pc in work.low_pc..work.high_pc() {
            match at(1, pc) {
                Ok(pieces) => assert!(!pieces.is_empty(), "{how}"),
                Err(error) => assert!(
                    matches!(
                        error,
                        LocationError::EntryValueLost | LocationError::RegisterUnknown { .. }
                    ),
                    "{error} in {how}"
                ),
            }
            let scopes = program.file.locals_at(pc);
            let constant = scopes
                .iter()
                .flat_map(|scope| &scope.variables)
                .find(|v| &*v.name == "constant");
            if let Some(constant) = constant {
                let pieces = constant.location.evaluate(pc, &Frame).unwrap();
                match &pieces[0].location {
                    ValueLocation::Bytes(bytes) => assert_eq!(bytes[0], 7, "{how}"),
                    ValueLocation::Value(value) => assert_eq!(*value, 7, "{how}"),
                    other => assert_eq!(*other, ValueLocation::OptimizedOut, "{how}"),
                }
            }
        }
    }
}

#[test]
fn inlined_functions_have_scopes_of_their_own() {
    let source = r#"
volatile int sink;
static inline int square(int side) { int area = side * sink; sink = area; return area; }
__attribute__((noinline)) int work(int count) { sink = count; return square(count + 1); }
int main(int argc, char **argv) { return work(argc); }
"#;
    for program in compile_everywhere(source, "-O2") {
        let copy = &program.file.inlined_copies("square")[0];
        let scopes = program.file.locals_at(copy.entry);
        let inlined = scopes
            .iter()
            .find(|scope| scope.kind == ScopeKind::Inlined("square".into()));
        let inlined = inlined.unwrap_or_else(|| panic!("{}: {scopes:?}", program.how));
        assert!(
            inlined
                .variables
                .iter()
                .any(|v| &*v.name == "side" && v.parameter),
            "{}",
            program.how
        );
        assert!(
            scopes
                .last()
                .unwrap()
                .variables
                .iter()
                .any(|v| &*v.name == "count"),
            "{}",
            program.how
        );
    }
}

#[test]
fn nothing_is_known_without_debug_information() {
    let Some(program) = compile("gcc", "program.c", PROGRAM, &["-g0"]) else {
        return;
    };
    let work = program.function("work");
    assert!(program.file.parameters(&work).is_empty());
    assert!(program.file.locals_at(work.low_pc).is_empty());
    assert!(program.file.globals_named("global").is_empty());
    assert!(program.file.data_symbol("global").is_some());
}

#[test]
fn what_the_linker_has_removed_is_nowhere() {
    let source = "int used = 7;\nint removed = 5;\nstatic char gone[8] = {1};\n\
                  char *dropped(void) { return gone; }\nint main(void) { return used; }";
    for layout in [
        ["-fPIE", "-pie", "-Wl,-z,separate-code"],
        ["-fPIE", "-pie", "-Wl,-z,noseparate-code"],
        ["-fno-pie", "-no-pie", "-Wl,-z,separate-code"],
    ] {
        let mut options = vec!["-g", "-fdata-sections", "-ffunction-sections"];
        options.push("-Wl,--gc-sections");
        options.extend(layout);
        let Some(program) = compile("gcc", "program.c", source, &options) else {
            return;
        };
        for (name, is_nowhere) in [("used", false), ("removed", true), ("gone", true)] {
            let found = program.file.globals_named(name);
            let [variable] = found.as_slice() else {
                panic!("{name} in {}: {found:?}", program.how);
            };
            assert_eq!(
                variable.location.is_nowhere(),
                is_nowhere,
                "{name} in {}",
                program.how
            );
        }
        let dropped = program.file.functions_named("dropped");
        assert!(dropped.is_empty(), "{}: {dropped:?}", program.how);
    }
}
