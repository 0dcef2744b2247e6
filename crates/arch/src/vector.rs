//! The contents of the x87 and SSE registers.

use crate::dwarf;

/// The size in bytes of the kernel's `user_fpregs_struct`: the area that `fxsave` writes.
pub const FLOAT_STATE_BYTES: usize = 512;

/// The offsets in that area (*Software Developer's Manual*, volume 1, table 10-2).
const STATUS: usize = 2;
const USED: usize = 4;
const CONTROL: usize = 24;
const X87: usize = 32;
const VECTORS: usize = 160;

/// The bits of the x87 status word that say which register is the top of the stack.
const TOP: u16 = 7 << 11;

/// The x87 and SSE registers of a stopped thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorRegisters {
    /// `xmm0` to `xmm15`, low byte first.
    pub vectors: [[u8; 16]; 16],
    /// `st(0)` to `st(7)`: 80-bit values, low byte first, in 16 bytes each.
    pub x87: [[u8; 16]; 8],
    /// The SSE control and status word.
    pub control: u32,
    /// The x87 status word.
    x87_status: u16,
    /// A bit for each x87 register, by its own number, that holds a value.
    x87_used: u16,
}

impl VectorRegisters {
    /// Returns the registers in the kernel's `user_fpregs_struct`.
    pub fn from_bytes(bytes: &[u8; FLOAT_STATE_BYTES]) -> VectorRegisters {
        VectorRegisters {
            vectors: std::array::from_fn(|index| part(bytes, VECTORS + index * 16)),
            x87: std::array::from_fn(|index| part(bytes, X87 + index * 16)),
            control: u32::from_le_bytes(part(bytes, CONTROL)),
            x87_status: u16::from_le_bytes(part(bytes, STATUS)),
            x87_used: u16::from_le_bytes(part(bytes, USED)),
        }
    }

    /// Writes the registers to the kernel's `user_fpregs_struct`; the rest of it stays.
    pub fn store(&self, bytes: &mut [u8; FLOAT_STATE_BYTES]) {
        for (index, value) in self.vectors.iter().enumerate() {
            put(bytes, VECTORS + index * 16, value);
        }
        for (index, value) in self.x87.iter().enumerate() {
            put(bytes, X87 + index * 16, value);
        }
        put(bytes, CONTROL, &self.control.to_le_bytes());
        put(bytes, STATUS, &self.x87_status.to_le_bytes());
        put(bytes, USED, &self.x87_used.to_le_bytes());
    }

    /// Returns the vector register or the entry of the x87 stack with this DWARF number.
    pub fn by_dwarf_number(&self, number: u16) -> Option<[u8; 16]> {
        match (dwarf::vector_index(number), dwarf::x87_index(number)) {
            (Some(index), _) => self.vectors.get(index).copied(),
            (None, Some(index)) => self.x87.get(index).copied(),
            (None, None) => None,
        }
    }

    /// Empties the x87 stack: the state at the entry of a function.
    pub fn empty_x87(&mut self) {
        self.x87_status &= !TOP;
        self.x87_used = 0;
    }

    /// Sets the x87 stack to these 80-bit values, the first of them on top: the state after a
    /// function that returns them.
    pub fn leave_on_x87(&mut self, values: &[[u8; 16]]) {
        let count = values.len().min(8) as u16;
        for (register, value) in self.x87.iter_mut().zip(values) {
            *register = *value;
        }
        // The stack grows downwards, and an empty one begins again at 0.
        let top = (8 - count) % 8;
        self.x87_status = self.x87_status & !TOP | top << 11;
        self.x87_used = !(0xff >> count) & 0xff;
    }
}

fn part<const COUNT: usize>(bytes: &[u8], offset: usize) -> [u8; COUNT] {
    let mut found = [0; COUNT];
    let rest = bytes.iter().skip(offset);
    found
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    found
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(offset..offset + value.len()) {
        place.copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> [u8; FLOAT_STATE_BYTES] {
        std::array::from_fn(|index| (index % 251) as u8)
    }

    #[test]
    fn registers_are_stored_as_they_are_read() {
        let bytes = state();
        let registers = VectorRegisters::from_bytes(&bytes);
        assert_eq!(registers.vectors[0][0], 160);
        assert_eq!(registers.vectors[15][..], bytes[400..416]);
        assert_eq!(registers.x87[7][..], bytes[144..160]);
        assert_eq!(registers.control, 0x1b1a_1918);
        assert_eq!(registers.by_dwarf_number(32), Some(registers.vectors[15]));
        assert_eq!(registers.by_dwarf_number(33), Some(registers.x87[0]));
        assert_eq!(registers.by_dwarf_number(41), None);
        let mut stored = state();
        registers.store(&mut stored);
        assert_eq!(stored, bytes);
        let mut empty = [0; FLOAT_STATE_BYTES];
        registers.store(&mut empty);
        assert_eq!(VectorRegisters::from_bytes(&empty), registers);
    }

    #[test]
    fn values_are_left_on_the_top_of_the_stack() {
        let mut registers = VectorRegisters::from_bytes(&[0; FLOAT_STATE_BYTES]);
        registers.leave_on_x87(&[[1; 16], [2; 16]]);
        assert_eq!((registers.x87[0][0], registers.x87[1][0]), (1, 2));
        assert_eq!((registers.x87_status, registers.x87_used), (6 << 11, 0xc0));
        registers.empty_x87();
        assert_eq!((registers.x87_status, registers.x87_used), (0, 0));
    }
}
