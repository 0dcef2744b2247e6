//! Machine code with labels, of the few forms that stubs consist of.
//!
//! Branches within the code are made as short as they can be ([`Assembler::shorten`]),
//! others have four bytes of displacement, so the size of a stub does not depend on its
//! address. Instructions are 64 bits wide unless said otherwise.
//!
//! **Invariant**: each instruction begins at exactly one mark.

mod link;

/// A general register, by its number in instructions.
pub(crate) type Physical = u8;

/// `rax`: a scratch register.
pub(crate) const RAX: Physical = 0;
/// `rdx`: a scratch register.
pub(crate) const RDX: Physical = 2;
/// `rsp`.
pub(crate) const RSP: Physical = 4;
/// `rbp`.
const RBP: Physical = 5;

/// A place of the code that may not be known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// The target of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A place of this code.
    Label(Label),
    /// An address outside of it.
    Address(u64),
    /// The site whose stub the code is, which is known when it is linked.
    Site,
}

/// An address in memory: `base + offset + 8 * index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    pub base: Physical,
    pub offset: i32,
    pub index: Option<Physical>,
}

impl Memory {
    pub(crate) fn new(base: Physical, offset: i32) -> Self {
        Self {
            base,
            offset,
            index: None,
        }
    }
}

/// An operation with an operand of its own encoding: that of `op r/m, imm32` in
/// the field `reg`; the opcode of `op r/m, r` follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add = 0,
    Or = 1,
    And = 4,
    Subtract = 5,
    Xor = 6,
    Compare = 7,
}

/// A condition of a jump, by the low half of its opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum If {
    Overflow = 0,
    NotOverflow = 1,
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
}

impl If {
    /// Returns the opposite condition.
    pub(crate) fn inverted(self) -> If {
        match self {
            If::Overflow => If::NotOverflow,
            If::NotOverflow => If::Overflow,
            If::Below => If::AboveEqual,
            If::AboveEqual => If::Below,
            If::Equal => If::NotEqual,
            If::NotEqual => If::Equal,
            If::BelowEqual => If::Above,
            If::Above => If::BelowEqual,
            If::Less => If::GreaterEqual,
            If::GreaterEqual => If::Less,
            If::LessEqual => If::Greater,
            If::Greater => If::LessEqual,
        }
    }
}

/// The code so far, with a mark `M` for each instruction.
#[derive(Debug, Clone)]
pub(crate) struct Assembler<M> {
    bytes: Vec<u8>,
    /// The start of each instruction, and what is known of it.
    marks: Vec<(usize, M)>,
    labels: Vec<Option<usize>>,
    /// The displacements of four bytes to fill in, each relative to the byte after it,
    /// ascending.
    branches: Vec<(usize, Target)>,
    /// The prefixes that lock the bus while there are several threads.
    lock_prefixes: Vec<usize>,
}

impl<M: Copy> Assembler<M> {
    pub(crate) fn new() -> Self {
        Self {
            // For a step with a guard and a slice.
            bytes: Vec::with_capacity(1024),
            marks: Vec::with_capacity(256),
            labels: Vec::with_capacity(128),
            branches: Vec::with_capacity(64),
            lock_prefixes: Vec::new(),
        }
    }

    /// Returns the size of the code in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the marks; the code has none any more.
    pub(crate) fn take_marks(&mut self) -> Vec<(usize, M)> {
        std::mem::take(&mut self.marks)
    }

    /// Returns the offsets of the lock prefixes.
    pub(crate) fn lock_prefixes(&self) -> &[usize] {
        &self.lock_prefixes
    }

    /// Makes a label that is bound later.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to the next instruction.
    pub(crate) fn bind(&mut self, label: Label) {
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(self.bytes.len());
        }
    }

    /// Returns the offset of a label.
    pub(crate) fn offset_of(&self, label: Label) -> Option<usize> {
        self.labels.get(label.0).copied().flatten()
    }

    /// Leaves room for instructions that are not marked.
    pub(crate) fn reserve(&mut self, size: usize) {
        self.bytes.resize(self.bytes.len() + size, 0xcc);
    }

    /// Appends an instruction as bytes.
    pub(crate) fn raw(&mut self, mark: M, bytes: &[u8]) {
        self.marks.push((self.bytes.len(), mark));
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn push(&mut self, mark: M, register: Physical) {
        self.one_byte(mark, 0x50, register);
    }

    pub(crate) fn pop(&mut self, mark: M, register: Physical) {
        self.one_byte(mark, 0x58, register);
    }

    fn one_byte(&mut self, mark: M, opcode: u8, register: Physical) {
        match register {
            0..8 => self.raw(mark, &[opcode + register]),
            _ => self.raw(mark, &[0x41, opcode + (register & 7)]),
        }
    }

    /// `to := word`, in the shortest form. Changes the flags.
    pub(crate) fn set(&mut self, mark: M, to: Physical, word: u64) {
        if word == 0 {
            // `xor` of both, 32 bits wide.
            let operands = 0xc0 | (to & 7) << 3 | to & 7;
            match to {
                0..8 => self.raw(mark, &[0x31, operands]),
                _ => self.raw(mark, &[0x45, 0x31, operands]),
            }
        } else if let Ok(word) = u32::try_from(word) {
            // The high half becomes 0.
            let prefix: &[u8] = if to >= 8 { &[0x41] } else { &[] };
            self.raw(mark, prefix);
            self.bytes.push(0xb8 + (to & 7));
            self.bytes.extend_from_slice(&word.to_le_bytes());
        } else if let Ok(word) = i32::try_from(word as i64) {
            self.raw(mark, &[0x48 | to >> 3, 0xc7, 0xc0 | to & 7]);
            self.bytes.extend_from_slice(&word.to_le_bytes());
        } else {
            self.raw(mark, &[0x48 | to >> 3, 0xb8 + (to & 7)]);
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
    }

    pub(crate) fn load(&mut self, mark: M, to: Physical, from: Memory) {
        self.memory(mark, &[0x8b], to, from);
    }

    /// Loads a word of the thread record.
    pub(crate) fn load_thread(&mut self, mark: M, to: Physical, offset: u32) {
        let [a, b, c, d] = offset.to_le_bytes();
        let operand = (to & 7) << 3 | RSP;
        let code = [0x65, 0x48 | (to >> 3) << 2, 0x8b, operand, 0x25, a, b, c, d];
        self.raw(mark, &code);
    }

    /// Compares a register with a word of the thread record.
    pub(crate) fn compare_thread(&mut self, mark: M, left: Physical, offset: u32) {
        let [a, b, c, d] = offset.to_le_bytes();
        let operand = (left & 7) << 3 | RSP;
        let code = [
            0x65,
            0x48 | (left >> 3) << 2,
            0x3b,
            operand,
            0x25,
            a,
            b,
            c,
            d,
        ];
        self.raw(mark, &code);
    }

    /// Adds a constant to a word of the thread record, in one instruction.
    pub(crate) fn add_thread(&mut self, mark: M, offset: u32, add: i32) {
        let [a, b, c, d] = offset.to_le_bytes();
        self.raw(mark, &[0x65, 0x48, 0x81, 0x04, 0x25, a, b, c, d]);
        self.bytes.extend_from_slice(&add.to_le_bytes());
    }

    /// Compares a register with a word in memory.
    pub(crate) fn compare(&mut self, mark: M, left: Physical, right: Memory) {
        self.memory(mark, &[0x3b], left, right);
    }

    /// Compares a byte in memory with a constant.
    pub(crate) fn compare_byte(&mut self, mark: M, left: Memory, right: u8) {
        self.raw(mark, &[]);
        self.encode_memory(&[0x80], 7, left, false);
        self.bytes.push(right);
    }

    pub(crate) fn store(&mut self, mark: M, from: Physical, to: Memory) {
        self.memory(mark, &[0x89], from, to);
    }

    /// Compares a word in memory with 0.
    pub(crate) fn compare_zero(&mut self, mark: M, left: Memory) {
        self.memory(mark, &[0x83], 7, left);
        self.bytes.push(0);
    }

    /// Stores a sign-extended constant.
    pub(crate) fn store_constant(&mut self, mark: M, constant: i32, to: Memory) {
        self.memory(mark, &[0xc7], 0, to);
        self.bytes.extend_from_slice(&constant.to_le_bytes());
    }

    /// `to := address of the operand`.
    pub(crate) fn address(&mut self, mark: M, to: Physical, memory: Memory) {
        self.memory(mark, &[0x8d], to, memory);
    }

    /// `to := left + right`, two registers; the right one is not `rsp`.
    pub(crate) fn sum(&mut self, mark: M, to: Physical, left: Physical, right: Physical) {
        let high = (to >> 3) << 2 | (right >> 3) << 1 | left >> 3;
        // With a displacement of one byte, which every left register allows.
        let operands = 0x40 | (to & 7) << 3 | RSP;
        let both = (right & 7) << 3 | left & 7;
        self.raw(mark, &[0x48 | high, 0x8d, operands, both, 0]);
    }

    pub(crate) fn copy(&mut self, mark: M, to: Physical, from: Physical) {
        self.registers(mark, &[0x8b], to, from);
    }

    /// `to := to op right`, or the comparison of both.
    pub(crate) fn binary(&mut self, mark: M, operation: Binary, to: Physical, right: Physical) {
        self.registers(mark, &[operation as u8 * 8 + 3], to, right);
    }

    /// The same with a sign-extended constant.
    pub(crate) fn binary_constant(&mut self, mark: M, operation: Binary, to: Physical, right: i32) {
        match i8::try_from(right) {
            Ok(0) if operation == Binary::Compare => self.test(mark, to, to),
            Ok(short) => {
                self.registers(mark, &[0x83], operation as u8, to);
                self.bytes.push(short as u8);
            }
            Err(_) => {
                self.registers(mark, &[0x81], operation as u8, to);
                self.bytes.extend_from_slice(&right.to_le_bytes());
            }
        }
    }

    pub(crate) fn test(&mut self, mark: M, left: Physical, right: Physical) {
        self.registers(mark, &[0x85], right, left);
    }

    pub(crate) fn test_constant(&mut self, mark: M, left: Physical, right: i32) {
        self.registers(mark, &[0xf7], 0, left);
        self.bytes.extend_from_slice(&right.to_le_bytes());
    }

    pub(crate) fn shift(&mut self, mark: M, is_left: bool, to: Physical, count: u8) {
        self.registers(mark, &[0xc1], if is_left { 4 } else { 5 }, to);
        self.bytes.push(count);
    }

    /// `to := to * right`, signed.
    pub(crate) fn multiply(&mut self, mark: M, to: Physical, right: Physical) {
        self.registers(mark, &[0x0f, 0xaf], to, right);
    }

    /// An operation of the group of the opcode f7: 3 is `neg`, 4 `mul`, 7 `idiv`.
    pub(crate) fn unary(&mut self, mark: M, number: u8, operand: Physical) {
        self.registers(mark, &[0xf7], number, operand);
    }

    /// An atomic operation: `cmpxchg` (b1) or `xadd` (c1).
    pub(crate) fn atomic(&mut self, mark: M, opcode: u8, register: Physical, memory: Memory) {
        self.lock_prefixes.push(self.bytes.len());
        // A prefix without effect, until it becomes that of the lock.
        self.raw(mark, &[LOCK_OFF]);
        self.encode_memory(&[0x0f, opcode], register, memory, true);
    }

    /// Loads a value of 1, 2, 4 or 8 bytes and extends it.
    pub(crate) fn load_extended(
        &mut self,
        mark: M,
        to: Physical,
        from: Memory,
        (bytes, signed): (u8, bool),
    ) {
        let (opcode, wide): (&[u8], bool) = extension(bytes, signed);
        self.raw(mark, &[]);
        self.encode_memory(opcode, to, from, wide);
    }

    /// Extends the low 1, 2, 4 or 8 bytes of a register.
    pub(crate) fn extend(&mut self, mark: M, register: Physical, (bytes, signed): (u8, bool)) {
        let (opcode, wide) = extension(bytes, signed);
        self.raw(mark, &[]);
        let high = register >> 3;
        // The prefix is needed for the low bytes of rsp, rbp, rsi and rdi, too.
        self.bytes
            .push(0x40 | u8::from(wide) << 3 | high << 2 | high);
        self.bytes.extend_from_slice(opcode);
        self.bytes.push(0xc0 | (register & 7) << 3 | register & 7);
    }

    pub(crate) fn jump(&mut self, mark: M, target: Target) {
        self.raw(mark, &[0xe9]);
        self.displacement(target);
    }

    pub(crate) fn jump_if(&mut self, mark: M, condition: If, target: Target) {
        self.raw(mark, &[0x0f, 0x80 | condition as u8]);
        self.displacement(target);
    }

    /// `rax := address of the label`.
    pub(crate) fn address_of(&mut self, mark: M, label: Label) {
        self.raw(mark, &[0x48, 0x8d, 0x05]);
        self.displacement(Target::Label(label));
    }

    /// `to := address of the site`.
    pub(crate) fn address_of_site(&mut self, mark: M, to: Physical) {
        self.raw(mark, &[0x48 | (to >> 3) << 2, 0x8d, 0x05 | (to & 7) << 3]);
        self.displacement(Target::Site);
    }

    fn displacement(&mut self, target: Target) {
        self.branches.push((self.bytes.len(), target));
        self.bytes.extend_from_slice(&[0; 4]);
    }

    fn registers(&mut self, mark: M, opcode: &[u8], reg: u8, rm: Physical) {
        self.raw(mark, &[0x48 | (reg >> 3) << 2 | rm >> 3]);
        self.bytes.extend_from_slice(opcode);
        self.bytes.push(0xc0 | (reg & 7) << 3 | rm & 7);
    }

    fn memory(&mut self, mark: M, opcode: &[u8], reg: u8, memory: Memory) {
        self.raw(mark, &[]);
        self.encode_memory(opcode, reg, memory, true);
    }

    /// Appends prefix, opcode and operands of an instruction with a memory operand.
    fn encode_memory(&mut self, opcode: &[u8], reg: u8, memory: Memory, wide: bool) {
        let index = memory.index.unwrap_or(RSP);
        let high = (reg >> 3) << 2 | (index >> 3) << 1 | memory.base >> 3;
        self.bytes.push(0x40 | u8::from(wide) << 3 | high);
        self.bytes.extend_from_slice(opcode);
        let short = i8::try_from(memory.offset);
        let mode = match short {
            // `rbp` and `r13` have no form without a displacement.
            Ok(0) if memory.base & 7 != RBP => 0,
            Ok(_) => 0x40,
            Err(_) => 0x80,
        };
        if memory.index.is_some() || memory.base & 7 == RSP {
            self.bytes.push(mode | (reg & 7) << 3 | RSP);
            let scale = if memory.index.is_some() { 0xc0 } else { 0 };
            self.bytes.push(scale | (index & 7) << 3 | memory.base & 7);
        } else {
            self.bytes.push(mode | (reg & 7) << 3 | memory.base & 7);
        }
        match short {
            Ok(_) if mode == 0 => {}
            Ok(short) => self.bytes.push(short as u8),
            Err(_) => self.bytes.extend_from_slice(&memory.offset.to_le_bytes()),
        }
    }
}

/// The byte that stands for a lock prefix while there is one thread: the segment
/// `ds`, which is ignored.
pub const LOCK_OFF: u8 = 0x3e;
/// The lock prefix.
pub const LOCK_ON: u8 = 0xf0;

/// Returns the opcode of the move that extends a value, and whether it is 64 bits
/// wide.
fn extension(bytes: u8, signed: bool) -> (&'static [u8], bool) {
    match (bytes, signed) {
        (1, false) => (&[0x0f, 0xb6], false),
        (1, true) => (&[0x0f, 0xbe], true),
        (2, false) => (&[0x0f, 0xb7], false),
        (2, true) => (&[0x0f, 0xbf], true),
        (4, false) => (&[0x8b], false),
        (4, true) => (&[0x63], true),
        _ => (&[0x8b], true),
    }
}
