//! How one value is read at a stop, decided when the point is planted.
//!
//! All names, types and debug information are resolved beforehand; at the
//! stop a plan is a few loads. In an event *after* a call the arguments'
//! registers are gone, so a plan has two halves: [`ReadPlan::begin`] takes one
//! machine word when the call is entered, [`ReadPlan::complete`] makes the
//! value of it, following pointers as memory is then.
//!
//! Invariant: nothing here allocates, except for text that the user asked for.

use juror_event::{Unavailability, Value};
use juror_symbols::Character;
use smallvec::SmallVec;

/// Longest text that is read from the debuggee, in bytes.
pub const STRING_LENGTH_MAX: usize = 4096;

/// What a plan needs of the debuggee.
pub trait Machine {
    /// A general register by its DWARF number (0 = rax … 15, 16 = rip).
    fn register(&self, number: u8) -> u64;
    /// The low eight bytes of a vector register (0 = xmm0).
    fn vector(&self, number: u8) -> Option<u64>;
    /// Fills `buffer` from memory, or says no.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;
    /// Whether an object that points to this table is one of the class, so that the
    /// table tells where its virtual bases are. Nobody knows it without symbols.
    fn has_class(&self, table: u64, class: ClassNumber) -> bool {
        let _ = (table, class);
        false
    }
    /// The bits of a number that an event has captured in a slot; a fraction as one of so
    /// many bytes.
    fn captured(&self, slot: u8, float_bytes: u8) -> Option<u64> {
        let _ = (slot, float_bytes);
        None
    }
}

/// The number of a class of C++ that plans go through, as a [`Machine`] knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassNumber(pub u32);

/// The way from an object to the part of it that is a virtual base class: where that is
/// a word of the object's table says (*Itanium C++ ABI*, 2.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VirtualPart {
    /// The class that has the base.
    pub class: ClassNumber,
    /// Where the word is, in bytes from where the object points to.
    pub entry: i64,
}

impl VirtualPart {
    /// Where the part begins of the object at an address.
    pub fn find(self, machine: &impl Machine, object: u64) -> Result<u64, Unavailability> {
        let table = word(machine, object)?;
        if !machine.has_class(table, self.class) {
            return Err(Unavailability::NoValue);
        }
        let distance = word(machine, table.wrapping_add_signed(self.entry))?;
        Ok(object.wrapping_add(distance))
    }
}

/// A step from a word that has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The word is a pointer: to the memory at this distance from where it points.
    Behind(i64),
    /// The same, and from the object there to a part of it. The next step begins at the
    /// address of the part.
    Part(i64, VirtualPart),
}

/// Where a plan begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A general register, by DWARF number; `shift` bits are dropped first
    /// (a field of a small struct that is passed in a register).
    Register {
        /// The DWARF number.
        number: u8,
        /// Bits to drop.
        shift: u8,
    },
    /// A vector register.
    Vector {
        /// 0 = xmm0.
        number: u8,
    },
    /// Memory at this distance from the call frame address (the stack pointer
    /// before the call: arguments that did not fit in registers).
    Frame {
        /// Bytes from the call frame address.
        offset: i64,
    },
    /// Memory at an address: a global variable.
    Absolute {
        /// The address.
        address: u64,
    },
    /// A constant that the compiler put in the variable's place.
    Constant {
        /// Its bits.
        bits: u64,
    },
    /// The compiler kept no copy.
    OptimizedOut,
}

/// What the bytes at the end mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// A signed integer of so many bytes.
    Signed(u8),
    /// An unsigned integer of so many bytes.
    Unsigned(u8),
    /// A signed bit field.
    SignedBits {
        /// Bytes to read.
        bytes: u8,
        /// Bits to drop.
        shift: u8,
        /// Bits to keep.
        bits: u8,
    },
    /// An unsigned bit field.
    UnsignedBits {
        /// Bytes to read.
        bytes: u8,
        /// Bits to drop.
        shift: u8,
        /// Bits to keep.
        bits: u8,
    },
    /// A truth value of so many bytes.
    Bool(u8),
    /// A `float`.
    Float32,
    /// A `double`.
    Float64,
    /// A pointer.
    Address,
    /// The address of the place itself, which must be in memory.
    AddressOf,
    /// A pointer to text of these characters.
    StringPointer(Character),
    /// Text that begins at the place itself (an array of characters).
    StringInPlace {
        /// Its size in bytes.
        bytes: u32,
        /// What it consists of.
        character: Character,
    },
}

impl Decode {
    /// Bytes to read from memory for it.
    fn size(self) -> usize {
        match self {
            Decode::Signed(bytes)
            | Decode::Unsigned(bytes)
            | Decode::Bool(bytes)
            | Decode::SignedBits { bytes, .. }
            | Decode::UnsignedBits { bytes, .. } => usize::from(bytes.min(8)),
            Decode::Float32 => 4,
            Decode::Float64 | Decode::Address | Decode::StringPointer(_) => 8,
            Decode::AddressOf | Decode::StringInPlace { .. } => 0,
        }
    }
}

/// How one value is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPlan {
    /// Where it begins.
    pub source: Source,
    /// Each step takes the word so far for a pointer and goes on from where it points.
    /// The last one is [`Step::Behind`].
    pub follow: SmallVec<[Step; 2]>,
    /// What the bytes mean.
    pub decode: Decode,
}

/// The first half of a read: the word that a plan begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The raw bits.
    Word(u64),
    /// The value is a place in memory (`AddressOf`, text in place).
    Location(u64),
    /// It cannot be read.
    Unavailable(Unavailability),
}

impl ReadPlan {
    /// Takes the word that the plan begins with. `frame` is the call frame
    /// address: the stack pointer before the call.
    pub fn begin(&self, machine: &impl Machine, frame: u64) -> Begun {
        match self.source {
            Source::Register { number, shift } => {
                Begun::Word(machine.register(number) >> shift.min(63))
            }
            Source::Vector { number } => match machine.vector(number) {
                Some(bits) => Begun::Word(bits),
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

    /// Makes the value, with memory as it is now.
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

    /// Both halves at once, for events before a call.
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
            Decode::Float32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Decode::Float64 => Value::Float(f64::from_bits(bits)),
            Decode::Address => Value::Address(bits),
            Decode::StringPointer(_) if bits == 0 => Value::Address(0),
            Decode::StringPointer(character) => {
                read_string(machine, bits, STRING_LENGTH_MAX, character)
            }
            // A place was asked for, and the value is in a register.
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

/// Reads text up to its end. A text may end just before memory that
/// cannot be read, so a failing long read is tried again in small pieces.
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

/// The same for characters of several bytes, one by one: they may cross pages.
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
                plan(Source::Vector { number: 0 }, &[], Decode::Float64),
                "2.5",
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
        // One that has no table, and one with the table of another class.
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
