//! Unwinding and variables on a real stack: that of the test itself.

use juror_arch::{abi, dwarf};
use juror_symbols::{
    EvaluationContext, Memory, Registers, SymbolFile, UnwindError, UnwindMethod, ValueLocation,
};
use std::arch::asm;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// This process, read as a debugger would.
struct OwnProcess {
    memory: File,
    /// Start, end and load bias of the executable mappings, and their files.
    modules: Vec<(u64, u64, u64, SymbolFile)>,
}

impl Memory for OwnProcess {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.memory.read_exact_at(buffer, address).is_ok()
    }
}

impl OwnProcess {
    fn open() -> OwnProcess {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mut modules = Vec::new();
        let mut files: Vec<(PathBuf, Option<SymbolFile>)> = Vec::new();
        for line in maps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [range, permissions, offset, _, _, path] = words.as_slice() else {
                continue;
            };
            let (start, end) = range.split_once('-').unwrap();
            let (start, end) = (
                u64::from_str_radix(start, 16).unwrap(),
                u64::from_str_radix(end, 16).unwrap(),
            );
            let path = PathBuf::from(path);
            if !files.iter().any(|(known, ..)| *known == path) {
                files.push((path.clone(), SymbolFile::open(&path).ok()));
            }
            let (_, file) = files.iter().find(|(known, _)| *known == path).unwrap();
            if let (true, Some(file)) = (permissions.contains('x'), file) {
                let offset = u64::from_str_radix(offset, 16).unwrap();
                let bias = start.wrapping_sub(code_address(file, offset));
                modules.push((start, end, bias, file.clone()));
            }
        }
        OwnProcess {
            memory: File::open("/proc/self/mem").unwrap(),
            modules,
        }
    }

    fn module_at(&self, address: u64) -> Option<(&SymbolFile, u64)> {
        let found = self
            .modules
            .iter()
            .find(|(start, end, ..)| (*start..*end).contains(&address));
        found.map(|(_, _, bias, file)| (file, *bias))
    }
}

/// The file address of the code at an offset in the file. The first mapping of a file
/// would not tell: a test that runs beside this one has mapped it to read it.
fn code_address(file: &SymbolFile, offset: u64) -> u64 {
    let segments = file.header().segments.iter();
    let mut begins = segments.filter(|segment| segment.executable).map(|code| {
        let in_page = code.address % 4096;
        (code.file_offset - in_page, code.address - in_page)
    });
    let (_, address) = begins.find(|(start, _)| *start == offset).unwrap();
    address
}

/// One frame of the own stack.
struct Frame {
    name: String,
    registers: Registers,
    /// File address by which it is looked up.
    pc: u64,
    cfa: u64,
    bias: u64,
    file: SymbolFile,
}

struct FrameContext<'a> {
    process: &'a OwnProcess,
    frame: &'a Frame,
}

impl Memory for FrameContext<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.process.read(address, buffer)
    }
}

impl EvaluationContext for FrameContext<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.frame.registers.get(number)
    }
    fn cfa(&self) -> Option<u64> {
        Some(self.frame.cfa)
    }
    fn load_bias(&self) -> u64 {
        self.frame.bias
    }
}

/// The registers at this very place.
#[inline(always)]
fn own_registers() -> Registers {
    let mut values = [0u64; 8];
    // SAFETY: writes eight words to the array of eight words, and nothing else.
    unsafe {
        asm!(
            "lea {scratch}, [rip]",
            "mov [{values}], {scratch}",
            "mov [{values} + 8], rsp",
            "mov [{values} + 16], rbp",
            "mov [{values} + 24], rbx",
            "mov [{values} + 32], r12",
            "mov [{values} + 40], r13",
            "mov [{values} + 48], r14",
            "mov [{values} + 56], r15",
            values = in(reg) values.as_mut_ptr(),
            scratch = out(reg) _,
            options(nostack),
        );
    }
    let mut registers = Registers::default();
    let numbers = [
        dwarf::INSTRUCTION_POINTER,
        dwarf::STACK_POINTER,
        dwarf::FRAME_POINTER,
        abi::CALLEE_SAVED[0],
        12,
        13,
        14,
        15,
    ];
    for (number, value) in numbers.into_iter().zip(values) {
        registers.set(number, Some(value));
    }
    registers
}

fn walk(process: &OwnProcess, innermost: Registers) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut registers = innermost;
    let mut exact = true;
    while frames.len() < 200 {
        let address = registers.get(dwarf::INSTRUCTION_POINTER).unwrap() - u64::from(!exact);
        let Some((file, bias)) = process.module_at(address) else {
            break;
        };
        let pc = address - bias;
        let unwound = match file.unwind(pc, &registers, process) {
            Ok(unwound) => unwound,
            Err(UnwindError::Outermost) => break,
            Err(error) => panic!("{error} after {} frames", frames.len()),
        };
        assert_eq!(unwound.method, UnwindMethod::Rules);
        frames.push(Frame {
            name: file
                .function_at(pc)
                .map(|function| function.name.to_string())
                .unwrap_or_default(),
            registers,
            pc,
            cfa: unwound.cfa,
            bias,
            file: file.clone(),
        });
        registers = unwound.registers;
        exact = unwound.signal_frame;
    }
    frames
}

/// Looks at the stack while all its frames are alive.
type Look<'a> = &'a dyn Fn(&OwnProcess, &[Frame]);

#[inline(never)]
fn innermost(process: &OwnProcess, value: u64, look: Look<'_>) {
    let kept_inside: u64 = black_box(value + 1);
    look(process, &walk(process, own_registers()));
    black_box(&kept_inside);
}

#[inline(never)]
fn middle(process: &OwnProcess, value: u64, look: Look<'_>) {
    let kept_between: [u32; 2] = black_box([value as u32, 77]);
    innermost(process, value * 2, look);
    black_box(&kept_between);
}

#[test]
fn the_own_stack_is_unwound_to_its_end() {
    middle(&OwnProcess::open(), black_box(21), &|_, frames| {
        let names: Vec<String> = frames
            .iter()
            .flat_map(|frame| {
                let inlined = frame.file.inlined_frames(frame.pc);
                let inlined: Vec<String> =
                    inlined.iter().map(|call| call.name.to_string()).collect();
                inlined.into_iter().chain([frame.name.clone()])
            })
            .collect();
        let position = |wanted: &str| {
            let found = names.iter().position(|name| name.ends_with(wanted));
            found.unwrap_or_else(|| panic!("{wanted} in {names:?}"))
        };
        let order = [
            position("unwinding::innermost"),
            position("unwinding::middle"),
            position("unwinding::the_own_stack_is_unwound_to_its_end"),
        ];
        assert!(order.is_sorted(), "{names:?}");
        // Every thread begins in the C library.
        assert!(
            frames
                .last()
                .unwrap()
                .file
                .path()
                .to_string_lossy()
                .contains("libc")
        );
    });
}

#[test]
fn variables_of_every_frame_have_their_values() {
    middle(&OwnProcess::open(), black_box(21), &|process, frames| {
        for (frame, variable, expected) in [
            (&frames[0], "kept_inside", 43u64),
            (&frames[1], "kept_between", 77 << 32 | 21),
        ] {
            let scopes = frame.file.locals_at(frame.pc);
            let found = scopes
                .iter()
                .flat_map(|scope| &scope.variables)
                .find(|v| &*v.name == variable);
            let found = found.unwrap_or_else(|| panic!("{variable} in {scopes:?}"));
            let pieces = found
                .location
                .evaluate(frame.pc, &FrameContext { process, frame })
                .unwrap();
            let [piece] = &pieces[..] else {
                panic!("{variable}: {pieces:?}")
            };
            let ValueLocation::Address(address) = piece.location else {
                panic!("{variable}: {piece:?}")
            };
            let mut bytes = [0; 8];
            assert!(process.read(address, &mut bytes));
            assert_eq!(u64::from_le_bytes(bytes), expected, "{variable}");
            assert_eq!(found.r#type.size(), Some(8), "{variable}");
        }
    });
}

/// Memory whose every word is its own address.
struct Echo;

impl Memory for Echo {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let bytes = address.to_le_bytes();
        buffer.len() <= 8 && {
            buffer.copy_from_slice(&bytes[..buffer.len()]);
            true
        }
    }
}

#[test]
fn a_signal_frame_gives_the_interrupted_registers() {
    let process = OwnProcess::open();
    let libc = process
        .modules
        .iter()
        .map(|(.., file)| file)
        .find(|f| f.path().to_string_lossy().contains("libc.so"));
    let Some((libc, restorer)) = libc.and_then(|libc| {
        Some((
            libc,
            libc.functions_named("__restore_rt").into_iter().next()?,
        ))
    }) else {
        println!("skipped: the C library does not name its signal trampoline");
        return;
    };
    let mut registers = Registers::default();
    registers.set(dwarf::STACK_POINTER, Some(0x1000));
    let unwound = libc.unwind(restorer.low_pc, &registers, &Echo).unwrap();
    assert!(unwound.signal_frame);
    // The kernel's frame: a context whose registers begin 40 bytes in.
    let context = 0x1000 + 40;
    assert_eq!(
        unwound.registers.get(dwarf::INSTRUCTION_POINTER),
        Some(context + 128)
    );
    assert_eq!(
        unwound.registers.get(abi::INTEGER_RESULTS[0]),
        Some(context + 104)
    );
    assert_eq!(
        unwound.registers.get(abi::INTEGER_ARGUMENTS[4]),
        Some(context)
    );
}

#[test]
fn the_first_instruction_finds_its_caller() {
    let source =
        "int work(int x) { return x + 1; }\nint main(int argc, char **argv) { return work(argc); }";
    for options in [
        &["-g", "-O0"][..],
        &["-g", "-O2"],
        &["-fno-asynchronous-unwind-tables", "-O0"],
        &["-g", "-fno-asynchronous-unwind-tables"],
    ] {
        let Some(program) = crate::support::compile("gcc", "program.c", source, options) else {
            return;
        };
        let work = program.function("work");
        let mut registers = Registers::default();
        registers.set(dwarf::STACK_POINTER, Some(0x7000));
        registers.set(dwarf::FRAME_POINTER, Some(0x7100));
        registers.set(abi::CALLEE_SAVED[0], Some(5));
        let unwound = program.file.unwind(work.low_pc, &registers, &Echo).unwrap();
        assert_eq!(unwound.cfa, 0x7008, "{}", program.how);
        assert_eq!(
            unwound.registers.get(dwarf::INSTRUCTION_POINTER),
            Some(0x7000),
            "{}",
            program.how
        );
        assert_eq!(
            unwound.registers.get(dwarf::STACK_POINTER),
            Some(0x7008),
            "{}",
            program.how
        );
        assert_eq!(
            unwound.registers.get(abi::CALLEE_SAVED[0]),
            Some(5),
            "{}",
            program.how
        );
        assert!(!unwound.signal_frame);
    }
}

#[test]
fn without_rules_the_frame_pointer_leads_on() {
    let source = "int work(int x) { volatile int y = x; return y + 1; }\nint main(int argc, char **argv) { return work(argc); }";
    let options = [
        "-O0",
        "-fno-omit-frame-pointer",
        "-fno-asynchronous-unwind-tables",
    ];
    let Some(program) = crate::support::compile("gcc", "program.c", source, &options) else {
        return;
    };
    let work = program.function("work");
    if program.file.has_unwind_rules(work.low_pc) {
        println!("skipped: this gcc writes unwind tables all the same");
        return;
    }
    let mut registers = Registers::default();
    registers.set(dwarf::STACK_POINTER, Some(0x7000));
    registers.set(dwarf::FRAME_POINTER, Some(0x7010));
    let unwound = program
        .file
        .unwind(work.low_pc + 8, &registers, &Echo)
        .unwrap();
    assert_eq!(unwound.method, UnwindMethod::FramePointer);
    assert_eq!(unwound.cfa, 0x7020);
    assert_eq!(
        unwound.registers.get(dwarf::INSTRUCTION_POINTER),
        Some(0x7018)
    );
    registers.set(dwarf::FRAME_POINTER, Some(3));
    let error = program
        .file
        .unwind(work.low_pc + 8, &registers, &Echo)
        .unwrap_err();
    assert!(matches!(error, UnwindError::NoRules { .. }), "{error}");
}
