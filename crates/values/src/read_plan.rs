//! Plans that read one value at a stop, compiled when the point is inserted.
//!
//! All names, types and debug information are resolved beforehand; at the stop a plan is a few
//! loads. An event *after* a call no longer has the arguments' registers, so a plan has two halves:
//! [`ReadPlan::begin`] takes one machine word when the call is entered, and [`ReadPlan::complete`]
//! makes the value of it, following pointers through memory as it is then.
//!
//! Invariant: only text that the user asked for is allocated.

use juror_event::{Unavailability, Value};
use juror_symbols::Character;
use smallvec::SmallVec;

/// The longest text that is read from the debuggee, in bytes.
pub const STRING_LENGTH_MAX: usize = 4096;

/// The registers and memory that a plan reads.
pub trait Machine {
    /// Returns a general register by its DWARF number (0 = rax … 15, 16 = rip).
    fn register(&self, number: u8) -> u64;
    /// Returns the low eight bytes of a vector register (0 = xmm0), or `None` if it is unknown.
    fn vector(&self, number: u8) -> Option<u64>;
    /// Fills `buffer` from memory. Returns false if any of it cannot be read.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;
    /// Returns whether an object with this virtual table is of the class, so that the table gives
    /// the offsets of its virtual bases. Without symbols the answer is no.
    fn has_class(&self, table: u64, class: ClassNumber) -> bool {
        let _ = (table, class);
        false
    }
    /// Returns the bits of the number that an event has captured in a slot. A floating-point number
    /// is converted to `float_bytes` bytes.
    fn captured(&self, slot: u8, float_bytes: u8) -> Option<u64> {
        let _ = (slot, float_bytes);
        None
    }
}

/// The number of a C++ class that a plan passes through, as a [`Machine`] knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassNumber(pub u32);

/// The step from an object to its virtual base class, whose offset is a word of the object's
/// virtual table (*Itanium C++ ABI*, 2.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VirtualPart {
    /// The class that has the base.
    pub class: ClassNumber,
    /// The offset of that word from the address point of the table, in bytes.
    pub entry: i64,
}

impl VirtualPart {
    /// Returns the address of the virtual base in the object at `object`.
    pub fn find(self, machine: &impl Machine, object: u64) -> Result<u64, Unavailability> {
        let table = word(machine, object)?;
        if !machine.has_class(table, self.class) {
            return Err(Unavailability::NoValue);
        }
        let distance = word(machine, table.wrapping_add_signed(self.entry))?;
        Ok(object.wrapping_add(distance))
    }
}

/// A step from the word that was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Takes the word for a pointer, and continues at this distance from the pointee, in bytes.
    Behind(i64),
    /// Takes the word for a pointer to an object at this distance, and continues with the address
    /// of a virtual base of the object.
    Part(i64, VirtualPart),
}

/// The start of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A general register, by DWARF number, shifted right by `shift` bits for a field of a small
    /// struct that is passed in a register.
    Register {
        /// The DWARF number.
        number: u8,
        /// The number of low bits to drop.
        shift: u8,
    },
    /// The low eight bytes of a vector register, shifted right by `shift` bits for the second of
    /// two `float`s in it.
    Vector {
        /// 0 = xmm0.
        number: u8,
        /// The number of low bits to drop.
        shift: u8,
    },
    /// Memory at this distance from the canonical frame address (CFA), which is the stack pointer
    /// before the call: an argument that is passed on the stack.
    Frame {
        /// The distance from the CFA, in bytes.
        offset: i64,
    },
    /// Memory at a fixed address: a global variable.
    Absolute {
        /// The address.
        address: u64,
    },
    /// A constant that the compiler gave the variable.
    Constant {
        /// Its bits.
        bits: u64,
    },
    /// The compiler kept no copy.
    OptimizedOut,
}

/// The meaning of the bytes that were read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// A signed integer of so many bytes.
    Signed(u8),
    /// An unsigned integer of so many bytes.
    Unsigned(u8),
    /// A signed bit field.
    SignedBits {
        /// The number of bytes to read.
        bytes: u8,
        /// The number of low bits to drop.
        shift: u8,
        /// The number of bits to keep.
        bits: u8,
    },
    /// An unsigned bit field.
    UnsignedBits {
        /// The number of bytes to read.
        bytes: u8,
        /// The number of low bits to drop.
        shift: u8,
        /// The number of bits to keep.
        bits: u8,
    },
    /// A boolean of so many bytes.
    Bool(u8),
    /// A bit field of one boolean.
    BoolBits {
        /// The number of bytes to read.
        bytes: u8,
        /// The number of low bits to drop.
        shift: u8,
        /// The number of bits to keep.
        bits: u8,
    },
    /// A `float`.
    Float32,
    /// A `double`.
    Float64,
    /// A pointer.
    Address,
    /// The address of the variable, which must be in memory.
    AddressOf,
    /// A pointer to text of these characters.
    StringPointer(Character),
    /// Text in the variable itself (an array of characters).
    StringInPlace {
        /// The size of the array in bytes.
        bytes: u32,
        /// The kind of character.
        character: Character,
    },
}

impl Decode {
    /// Returns the number of bytes to read from memory.
    fn size(self) -> usize {
        match self {
            Decode::Signed(bytes)
            | Decode::Unsigned(bytes)
            | Decode::Bool(bytes)
            | Decode::SignedBits { bytes, .. }
            | Decode::UnsignedBits { bytes, .. }
            | Decode::BoolBits { bytes, .. } => usize::from(bytes.min(8)),
            Decode::Float32 => 4,
            Decode::Float64 | Decode::Address | Decode::StringPointer(_) => 8,
            Decode::AddressOf | Decode::StringInPlace { .. } => 0,
        }
    }
}

/// A plan that reads one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPlan {
    /// The start.
    pub source: Source,
    /// The pointers to follow, in order. The last step is [`Step::Behind`].
    pub follow: SmallVec<[Step; 2]>,
    /// The meaning of the bytes.
    pub decode: Decode,
}

/// The first half of a read: the word that the plan starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The raw bits.
    Word(u64),
    /// The address of a variable (`AddressOf`, text in place).
    Location(u64),
    /// The word cannot be read.
    Unavailable(Unavailability),
}

impl ReadPlan {
    /// Reads the word that the plan starts with. `frame` is the canonical frame address: the stack
    /// pointer before the call.
    pub fn begin(&self, machine: &impl Machine, frame: u64) -> Begun {
        match self.source {
            Source::Register { number, shift } => {
                Begun::Word(machine.register(number) >> shift.min(63))
            }
            Source::Vector { number, shift } => match machine.vector(number) {
                Some(bits) => Begun::Word(bits >> shift.min(63)),
                None => Begun::Unavailable(Unavailability::OptimizedOut),
            },
            Source::Constant { bits } => Begun::Word(bits),
            Source::OptimizedOut => Begun::Unavailable(Unavailability::OptimizedOut),
            Source::Frame { offset } => {
                self.begin_memory(machine, frame.wrapping_add_signed(offset))
            }
            Source::Absolute { address } => self.begin_memory(machine, address),
        }
    }

    fn begin_memory(&self, machine: &impl Machine, address: u64) -> Begun {
        if self.follow.is_empty() {
            let size = self.decode.size();
            if size == 0 {
                return Begun::Location(address);
            }
            return load(machine, address, size);
        }
        load(machine, address, 8)
    }

    /// Completes the value, with memory as it is now.
    pub fn complete(&self, machine: &impl Machine, begun: Begun) -> Value {
        let mut current = begun;
        for (step, &way) in self.follow.iter().enumerate() {
            let Begun::Word(pointer) = current else { break };
            let address = match way {
                Step::Behind(offset) => pointer.wrapping_add_signed(offset),
                Step::Part(offset, part) => {
                    let object = pointer.wrapping_add_signed(offset);
                    current = match part.find(machine, object) {
                        Ok(start) => Begun::Word(start),
                        Err(why) => Begun::Unavailable(why),
                    };
                    continue;
                }
            };
            let last = step + 1 == self.follow.len();
            let size = if last { self.decode.size() } else { 8 };
            current = if size == 0 {
                Begun::Location(address)
            } else {
                load(machine, address, size)
            };
        }
        match current {
            Begun::Unavailable(why) => Value::Unavailable(why),
            Begun::Location(address) => match self.decode {
                Decode::StringInPlace { bytes, character } => {
                    read_string(machine, address, bytes as usize, character)
                }
                _ => Value::Address(address),
            },
            Begun::Word(bits) => self.decode_word(machine, bits),
        }
    }

    /// Does both halves at once, for events before a call.
    pub fn read(&self, machine: &impl Machine, frame: u64) -> Value {
        self.complete(machine, self.begin(machine, frame))
    }

    fn decode_word(&self, machine: &impl Machine, bits: u64) -> Value {
        match self.decode {
            Decode::Signed(bytes) => signed(bits, u32::from(bytes) * 8),
            Decode::Unsigned(bytes) => unsigned(bits, u32::from(bytes) * 8),
            Decode::SignedBits {
                shift, bits: width, ..
            } => signed(bits >> shift.min(63), u32::from(width)),
            Decode::UnsignedBits {
                shift, bits: width, ..
            } => unsigned(bits >> shift.min(63), u32::from(width)),
            Decode::Bool(bytes) => Value::Bool(bits & mask(u32::from(bytes) * 8) != 0),
            Decode::BoolBits {
                shift, bits: width, ..
            } => Value::Bool((bits >> shift) & mask(u32::from(width)) != 0),
            Decode::Float32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Decode::Float64 => Value::Float(f64::from_bits(bits)),
            Decode::Address => Value::Address(bits),
            Decode::StringPointer(_) if bits == 0 => Value::Address(0),
            Decode::StringPointer(character) => {
                read_string(machine, bits, STRING_LENGTH_MAX, character)
            }
            // The address was asked for, and the value is in a register.
            Decode::AddressOf | Decode::StringInPlace { .. } => {
                Value::Unavailable(Unavailability::OptimizedOut)
            }
        }
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

fn unsigned(bits: u64, width: u32) -> Value {
    Value::Int(i128::from(bits & mask(width)))
}

fn signed(bits: u64, width: u32) -> Value {
    let unused = 64 - width.clamp(1, 64);
    Value::Int(i128::from(((bits << unused) as i64) >> unused))
}

fn word(machine: &impl Machine, address: u64) -> Result<u64, Unavailability> {
    match load(machine, address, 8) {
        Begun::Word(word) => Ok(word),
        _ => Err(Unavailability::Unreadable { address }),
    }
}

fn load(machine: &impl Machine, address: u64, size: usize) -> Begun {
    let mut bytes = [0; 8];
    if machine.read(address, &mut bytes[..size.min(8)]) {
        Begun::Word(u64::from_le_bytes(bytes))
    } else {
        Begun::Unavailable(Unavailability::Unreadable { address })
    }
}

/// Reads text up to its terminator. The text may end just before unmapped memory, so it is read in
/// pieces that do not cross a page.
fn read_string(machine: &impl Machine, address: u64, limit: usize, of: Character) -> Value {
    if of != Character::Byte {
        return read_wide_string(machine, address, limit, of);
    }
    const PIECE: usize = 64;
    let mut text = Vec::new();
    let mut buffer = [0; PIECE];
    while text.len() < limit {
        let at = address.wrapping_add(text.len() as u64);
        // Pieces end at multiples of their size, so none crosses a page.
        let piece = (PIECE - (at as usize % PIECE)).min(limit - text.len());
        if !machine.read(at, &mut buffer[..piece]) {
            return Value::Unavailable(Unavailability::Unreadable { address: at });
        }
        match buffer[..piece].iter().position(|&byte| byte == 0) {
            Some(end) => {
                text.extend_from_slice(&buffer[..end]);
                break;
            }
            None => text.extend_from_slice(&buffer[..piece]),
        }
    }
    Value::String(String::from_utf8_lossy(&text).into())
}

/// Reads text of wide characters one by one, since a piece could cross a page.
fn read_wide_string(machine: &impl Machine, address: u64, limit: usize, of: Character) -> Value {
    let mut text = Vec::new();
    let mut buffer = [0; 4];
    let unit = buffer.get_mut(..usize::from(of.size())).unwrap_or_default();
    while text.len() + unit.len() <= limit {
        let at = address.wrapping_add(text.len() as u64);
        if !machine.read(at, unit) {
            return Value::Unavailable(Unavailability::Unreadable { address: at });
        }
        if unit.iter().all(|&byte| byte == 0) {
            break;
        }
        text.extend_from_slice(unit);
    }
    let characters = of.decoded(&text).into_iter();
    let text: String = characters
        .map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Value::String(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    /// Memory from 0x1000, one page; registers hold their number times 0x11.
    struct Fake(Vec<u8>);

    impl Machine for Fake {
        fn register(&self, number: u8) -> u64 {
            match number {
                5 => 0x1000,
                4 => u64::MAX - 1,
                other => u64::from(other) * 0x11,
            }
        }
        fn vector(&self, number: u8) -> Option<u64> {
            (number == 0).then(|| 2.5f64.to_bits())
        }
        fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
            let Some(start) = address.checked_sub(0x1000) else {
                return false;
            };
            match self.0.get(start as usize..start as usize + buffer.len()) {
                Some(bytes) => {
                    buffer.copy_from_slice(bytes);
                    true
                }
                None => false,
            }
        }
        fn has_class(&self, table: u64, class: ClassNumber) -> bool {
            table == 0x1100 && class == CLASS.class
        }
    }

    /// The class whose only table is at 0x1100; its objects have the number 3.
    const CLASS: VirtualPart = VirtualPart {
        class: ClassNumber(3),
        entry: -24,
    };

    fn machine() -> Fake {
        let mut memory = vec![0; 0x1000];
        memory[0..8].copy_from_slice(&0x1040u64.to_le_bytes());
        memory[8..12].copy_from_slice(&(-7i32).to_le_bytes());
        memory[0x40..0x48].copy_from_slice(&99u64.to_le_bytes());
        memory[0x80..0x86].copy_from_slice(b"hello\0");
        memory[0xffd..0x1000].copy_from_slice(b"end");
        Fake(memory)
    }

    fn plan(source: Source, follow: &[i64], decode: Decode) -> ReadPlan {
        ReadPlan {
            source,
            follow: follow.iter().map(|&offset| Step::Behind(offset)).collect(),
            decode,
        }
    }

    #[test]
    fn plans_read_what_c_would() {
        let rdi = Source::Register {
            number: 5,
            shift: 0,
        };
        let rsi = Source::Register {
            number: 4,
            shift: 0,
        };
        for (plan, expected) in [
            (plan(rdi, &[], Decode::Address), "0x1000"),
            (plan(rsi, &[], Decode::Signed(8)), "-2"),
            (plan(rsi, &[], Decode::Unsigned(4)), "4294967294"),
            (plan(rsi, &[], Decode::Signed(1)), "-2"),
            (plan(rdi, &[8], Decode::Signed(4)), "-7"),
            (plan(rdi, &[0, 0], Decode::Unsigned(8)), "99"),
            (plan(rdi, &[8], Decode::AddressOf), "0x1008"),
            (
                plan(
                    rdi,
                    &[0x80],
                    Decode::StringInPlace {
                        bytes: 3,
                        character: Character::Byte,
                    },
                ),
                "\"hel\"",
            ),
            (
                plan(
                    Source::Constant { bits: 0x1080 },
                    &[],
                    Decode::StringPointer(Character::Byte),
                ),
                "\"hello\"",
            ),
            (
                plan(
                    Source::Vector {
                        number: 0,
                        shift: 0,
                    },
                    &[],
                    Decode::Float64,
                ),
                "2.5",
            ),
            (
                // The upper half of 2.5.
                plan(
                    Source::Vector {
                        number: 0,
                        shift: 32,
                    },
                    &[],
                    Decode::Float32,
                ),
                "2.0625",
            ),
            (
                plan(Source::Frame { offset: 8 }, &[], Decode::Signed(4)),
                "-7",
            ),
            (
                plan(
                    Source::Absolute { address: 0x1000 },
                    &[0],
                    Decode::Unsigned(1),
                ),
                "99",
            ),
            (
                plan(Source::OptimizedOut, &[], Decode::Signed(4)),
                "<optimized out>",
            ),
            (
                plan(Source::Constant { bits: 0 }, &[8], Decode::Signed(4)),
                "<memory at 0x8 cannot be read>",
            ),
            (
                plan(
                    Source::Constant { bits: 0x1ffd },
                    &[],
                    Decode::StringPointer(Character::Byte),
                ),
                "<memory at 0x2000 cannot be read>",
            ),
            (
                plan(
                    Source::Constant { bits: 0 },
                    &[],
                    Decode::StringPointer(Character::Byte),
                ),
                "0x0",
            ),
            (
                plan(
                    Source::Constant { bits: 0b1011_0000 },
                    &[],
                    Decode::SignedBits {
                        bytes: 1,
                        shift: 4,
                        bits: 4,
                    },
                ),
                "-5",
            ),
            (
                plan(
                    Source::Register {
                        number: 0,
                        shift: 0,
                    },
                    &[],
                    Decode::Bool(1),
                ),
                "false",
            ),
        ] {
            assert_eq!(
                plan.read(&machine(), 0x1000).to_string(),
                expected,
                "{plan:?}"
            );
        }
    }

    #[test]
    fn parts_of_objects_are_where_their_tables_say() {
        let mut machine = machine();
        let mut put = |at: usize, word: u64| {
            machine.0[at..at + 8].copy_from_slice(&word.to_le_bytes());
        };
        // An object at 0x1200 whose part is 16 bytes behind it, and has the value 5.
        put(0x200, 0x1100);
        put(0x100 - 24, 16);
        put(0x210, 5);
        // An object without a table, and an object with the table of another class.
        put(0x308, 0x1140);
        let plan = |object: u64| ReadPlan {
            source: Source::Constant { bits: object },
            follow: smallvec![Step::Part(8, CLASS), Step::Behind(0)],
            decode: Decode::Signed(4),
        };
        for (object, expected) in [
            (0x11f8, "5"),
            (0x12f8, "<no value>"),
            (0x1300, "<no value>"),
            (0, "<memory at 0x8 cannot be read>"),
        ] {
            assert_eq!(plan(object).read(&machine, 0).to_string(), expected);
        }
        let address = ReadPlan {
            decode: Decode::AddressOf,
            ..plan(0x11f8)
        };
        assert_eq!(address.read(&machine, 0).to_string(), "0x1210");
    }

    #[test]
    fn an_argument_is_taken_at_entry_and_followed_at_return() {
        let out = ReadPlan {
            source: Source::Register {
                number: 5,
                shift: 0,
            },
            follow: smallvec![Step::Behind(0x40)],
            decode: Decode::Unsigned(8),
        };
        let begun = out.begin(&machine(), 0);
        let mut later = machine();
        later.0[0x40] = 100;
        assert_eq!(out.complete(&later, begun).to_string(), "100");
    }
}
