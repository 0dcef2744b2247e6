//! The code by which threads come into the agent without a trap.
//!
//! A *window* is the whole instructions from a site on that have at least five bytes: a jump replaces
//! them, and they are executed at their copies in a stub, each site behind its entry into the agent. The
//! displacement of each jump is the same, and its bytes are traps: so whoever comes to an
//! instruction within a window, by a jump that nobody knows of, traps there and goes on at its copy. The
//! jump leads to another one, at an address that no other window has, and that leads to the stub.
//!
//! Where there is no window a trap is written.

use super::table::Row;
use crate::moving::copy;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use juror_agent::protocol;
use juror_program::program::Program;
use std::collections::BTreeMap;
use std::ops::Range;

/// The bytes of a jump.
const JUMP_LENGTH: u64 = 5;

/// A displacement of the jumps.
#[derive(Debug, Clone, Copy)]
struct Displacement {
    /// As it is added to the address behind a jump.
    value: u64,
    /// Its bytes, as they follow the first one of a jump.
    bytes: [u8; 4],
}

impl Displacement {
    const fn of(bytes: [u8; 4]) -> Displacement {
        Displacement {
            value: i32::from_le_bytes(bytes) as i64 as u64,
            bytes,
        }
    }

    /// Returns whether each byte at which an instruction of the window began is a trap.
    fn suits(self, window: &Window) -> bool {
        let mut behind = window.instructions.iter().skip(1);
        behind.all(|instruction| {
            let offset = instruction.ip().wrapping_sub(window.range.start + 1);
            let byte = usize::try_from(offset)
                .ok()
                .and_then(|at| self.bytes.get(at));
            byte.is_none_or(|byte| *byte == protocol::TRAP)
        })
    }
}

/// The displacements that are tried: down, and up for programs at low addresses, beyond their heap.
const DISPLACEMENTS: [Displacement; 2] = [
    Displacement::of([protocol::TRAP; 4]),
    Displacement::of([protocol::TRAP, protocol::TRAP, protocol::TRAP, 0x4c]),
];

/// The room for data before the stubs: the stack of the entries, and what they load.
const DATA_LENGTH: u64 = 8_192;
/// The distance of the end of that stack from the start.
const STACK_TOP: u64 = 4_096;

/// The room for one instruction: the entry, and its copy.
const ROOM: u64 = 64;

/// The most instructions of a window.
const INSTRUCTIONS_MAX: usize = 5;
const INSTRUCTION_MAX: usize = 15;

/// A jump in place of the instructions of a window.
#[derive(Debug)]
struct Window {
    range: Range<u64>,
    instructions: Vec<Instruction>,
}

/// What is written into the process.
#[derive(Debug, Default)]
pub(super) struct Code {
    /// The rows as the agent takes them.
    pub(super) rows: Vec<[u64; protocol::SITE_WORDS as usize]>,
    /// The memory that is mapped, and how it begins.
    pub(super) areas: Vec<(Range<u64>, Vec<u8>)>,
    /// The jumps to the stubs, in these areas.
    pub(super) jumps: Vec<(u64, Vec<u8>)>,
    /// The jumps and traps in the program.
    pub(super) patches: Vec<(u64, Vec<u8>)>,
}

/// Returns the code for sites that are near one another; `entry` is where it leads to. None if a
/// site cannot be moved.
pub(super) fn code_for(
    rows: &[Row],
    program: &Program,
    entry: u64,
    is_free: &dyn Fn(&Range<u64>) -> bool,
    code: &mut Code,
) -> Option<()> {
    let by_address: BTreeMap<u64, &Row> = rows.iter().map(|row| (row.address, row)).collect();
    let mut windows = windows(&by_address, program);
    let (first, last) = (rows.first()?.address, rows.last()?.address);
    let count = rows.len() + windows.len() * INSTRUCTIONS_MAX;
    let stubs_length = DATA_LENGTH + count as u64 * ROOM;
    let area_of = |displacement: Displacement| {
        let low = first.wrapping_add(displacement.value) & !0xfff;
        let end = last
            .wrapping_add(displacement.value)
            .wrapping_add(2 * JUMP_LENGTH);
        (low.wrapping_sub(stubs_length) & !0xfff)..end.next_multiple_of(4096)
    };
    let is_usable = |area: &Range<u64>| {
        let is_apart = area.end < first || area.start > last;
        area.start < area.end && is_apart && is_free(area)
    };
    let mut displacements = DISPLACEMENTS.into_iter();
    let displacement = displacements.find(|it| is_usable(&area_of(*it)))?;
    let area = area_of(displacement);
    let start = area.start;
    windows.retain(|_, window| displacement.suits(window));
    let mut stubs = Stubs {
        start,
        bytes: data(entry),
    };
    let mut covered = 0;
    for row in rows {
        if row.address < covered {
            continue;
        }
        match windows.get(&row.address) {
            Some(window) => {
                let at = stubs.add_window(window, &by_address, code)?;
                covered = window.range.end;
                let landing = window.range.start.wrapping_add(JUMP_LENGTH);
                let landing = landing.wrapping_add(displacement.value);
                code.jumps.push((landing, jump(landing, at)?));
                let patch = patch(&window.range, displacement);
                code.patches.push((window.range.start, patch));
            }
            None if row.is_call() => {}
            None => {
                stubs.add_trap(row, code)?;
                code.patches.push((row.address, vec![protocol::TRAP]));
            }
        }
    }
    (stubs.bytes.len() as u64 <= stubs_length).then_some(())?;
    code.areas.push((area, stubs.bytes));
    Some(())
}

/// Returns the bytes of a jump to the landing of a window; those behind it are traps.
fn patch(range: &Range<u64>, displacement: Displacement) -> Vec<u8> {
    let length = usize::try_from(range.end - range.start).unwrap_or_default();
    let mut bytes = vec![0xe9];
    bytes.extend(displacement.bytes);
    bytes.resize(length, protocol::TRAP);
    bytes
}

fn jump(from: u64, to: u64) -> Option<Vec<u8>> {
    let displacement = i32::try_from(to.wrapping_sub(from + JUMP_LENGTH) as i64).ok()?;
    let mut bytes = vec![0xe9];
    bytes.extend(displacement.to_le_bytes());
    Some(bytes)
}

fn data(entry: u64) -> Vec<u8> {
    let mut bytes = vec![0; DATA_LENGTH as usize];
    let place = STACK_TOP as usize + 8..STACK_TOP as usize + 16;
    if let Some(place) = bytes.get_mut(place) {
        place.copy_from_slice(&entry.to_le_bytes());
    }
    bytes
}

/// Returns the windows by their first addresses.
fn windows(rows: &BTreeMap<u64, &Row>, program: &Program) -> BTreeMap<u64, Window> {
    let mut windows = BTreeMap::new();
    let mut covered = 0;
    for (address, row) in rows {
        let start = row.window_start();
        let has_others = rows.range(start..*address).next().is_some();
        if start < covered || has_others {
            continue;
        }
        if let Some(window) = window_at(start, row, program) {
            covered = window.range.end;
            windows.insert(*address, window);
        }
    }
    windows
}

fn window_at(start: u64, row: &Row, program: &Program) -> Option<Window> {
    let mut bytes = [0; INSTRUCTIONS_MAX * INSTRUCTION_MAX];
    let length = program.debuggee.read_up_to(start, &mut bytes);
    let bytes = bytes.get(..length)?;
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let mut instructions: Vec<Instruction> = Vec::new();
    let end = if row.is_call() {
        row.address + 2
    } else {
        start
    };
    while instructions.len() < INSTRUCTIONS_MAX {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        let flow = instruction.flow_control();
        let is_own_call = instruction.ip() == row.address && row.is_call();
        let is_last = matches!(
            flow,
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch
        );
        let is_movable =
            is_last || matches!(flow, FlowControl::Next | FlowControl::ConditionalBranch);
        if !(is_own_call || is_movable && instruction.mnemonic() != Mnemonic::Syscall) {
            return None;
        }
        instructions.push(instruction);
        let next = instruction.next_ip();
        if next >= start + JUMP_LENGTH && next >= end {
            let range = start..next;
            return Some(Window {
                range,
                instructions,
            });
        }
        if is_last {
            return None;
        }
    }
    None
}

/// The stubs of an area.
struct Stubs {
    start: u64,
    bytes: Vec<u8>,
}

impl Stubs {
    fn here(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Adds the stub of a window. Returns its address.
    fn add_window(
        &mut self,
        window: &Window,
        rows: &BTreeMap<u64, &Row>,
        code: &mut Code,
    ) -> Option<u64> {
        let begin = self.here();
        for instruction in &window.instructions {
            let address = instruction.ip();
            match rows.get(&address) {
                Some(row) => {
                    self.add_entry(code.rows.len())?;
                    let copy = if row.is_call() {
                        instruction.next_ip()
                    } else {
                        self.here()
                    };
                    code.rows.push(row.words(copy));
                    if row.is_call() {
                        continue;
                    }
                }
                None if address != window.range.start => {
                    code.rows.push(Row::copied(address, self.here()));
                }
                None => {}
            }
            let copy = copy(instruction, self.here())?;
            self.bytes.extend(copy);
        }
        let back = jump(self.here(), window.range.end)?;
        self.bytes.extend(back);
        Some(begin)
    }

    /// Adds the copy of an instruction at which a trap is written.
    fn add_trap(&mut self, row: &Row, code: &mut Code) -> Option<()> {
        code.rows.push(row.words(self.here()));
        let copy = copy(row.instruction(), self.here())?;
        self.bytes.extend(copy);
        let back = jump(self.here(), row.instruction().next_ip())?;
        self.bytes.extend(back);
        Some(())
    }

    /// Adds the way into the agent for the site with this number: the stack pointer is kept, and the
    /// number is on a stack of the entries' own.
    fn add_entry(&mut self, number: usize) -> Option<()> {
        self.add_relative(&[0x48, 0x89, 0x25], STACK_TOP)?;
        self.add_relative(&[0x48, 0x8d, 0x25], STACK_TOP)?;
        self.bytes.push(0x68);
        self.bytes.extend(i32::try_from(number).ok()?.to_le_bytes());
        self.add_relative(&[0xff, 0x25], STACK_TOP + 8)
    }

    /// Adds an instruction whose operand is a place in the data.
    fn add_relative(&mut self, opcode: &[u8], place: u64) -> Option<()> {
        let next = self.here() + opcode.len() as u64 + 4;
        let displacement = i32::try_from((self.start + place).wrapping_sub(next) as i64).ok()?;
        self.bytes.extend(opcode);
        self.bytes.extend(displacement.to_le_bytes());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(code: &[u8]) -> Window {
        let decoder = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE);
        Window {
            range: 0x1000..0x1000 + code.len() as u64,
            instructions: decoder.into_iter().collect(),
        }
    }

    #[test]
    fn bytes_at_which_instructions_began_are_traps() {
        // mov eax, [rdi]; mov [rdi], ecx; ret: they begin at 0, 2 and 4.
        let short = window(&[0x8b, 0x07, 0x89, 0x0f, 0xc3]);
        // mov eax, 1
        let whole = window(&[0xb8, 1, 0, 0, 0]);
        let [down, up] = DISPLACEMENTS;
        assert!(down.suits(&short) && down.suits(&whole) && up.suits(&whole));
        // The last byte of this displacement is none.
        assert!(!up.suits(&short));
        assert_eq!(patch(&short.range, down), [0xe9, 0xcc, 0xcc, 0xcc, 0xcc]);
        assert_eq!(patch(&(0..6), up), [0xe9, 0xcc, 0xcc, 0xcc, 0x4c, 0xcc]);
    }

    #[test]
    fn an_entry_keeps_the_stack_pointer_and_gives_its_number() {
        let mut stubs = Stubs {
            start: 0x10_0000,
            bytes: data(0x1234),
        };
        let begin = stubs.bytes.len();
        stubs.add_entry(7).unwrap();
        let entry = &stubs.bytes[begin..];
        let decoder = Decoder::with_ip(64, entry, 0x10_2000, DecoderOptions::NONE);
        let instructions: Vec<Instruction> = decoder.into_iter().collect();
        let mnemonics: Vec<_> = instructions.iter().map(Instruction::mnemonic).collect();
        use Mnemonic::{Jmp, Lea, Mov, Push};
        assert_eq!(mnemonics, [Mov, Lea, Push, Jmp]);
        let places = [0, 1, 3].map(|at| instructions[at].ip_rel_memory_address());
        assert_eq!(places, [0x10_1000, 0x10_1000, 0x10_1008]);
        assert_eq!(instructions[2].immediate32to64(), 7);
    }
}
