//! Following bytes backward.

use crate::Executed;
use crate::effects::{Effects, From, decode, effects, unknown};
use crate::gaps::{Gap, gap_behind};
use crate::location::{Location, Storage};
use iced_x86::{FlowControl, Mnemonic};
use juror_arch::Registers;
use std::cell::OnceCell;
use std::ops::Range;

/// The most pieces into which a value falls while it is followed.
const PIECES_MAX: usize = 4096;

/// The executed instructions of a thread.
#[derive(Debug, Clone)]
pub struct Window {
    steps: Vec<Executed>,
    /// The registers after the last one.
    end: Registers,
    /// The effect of each instruction, as far as that was asked for.
    effects: Vec<OnceCell<Effects>>,
}

/// Returns the ranges of memory that an instruction is about to read, as far as they are known.
pub fn reads(executed: &Executed) -> Vec<Range<u64>> {
    let effects = effects(executed, &executed.registers);
    let sources = effects
        .writes
        .into_iter()
        .flat_map(|write| match write.from {
            From::Copy(source) | From::Sign(source) => vec![source],
            From::Computed(sources) => sources,
            _ => Vec::new(),
        });
    let mut ranges: Vec<Range<u64>> = sources
        .filter(|source| source.storage == Storage::Memory && source.size() > 0)
        .map(|source| source.range)
        .collect();
    ranges.dedup();
    ranges
}

/// The way on behind an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Into a function.
    Call,
    /// Back to the caller.
    Return,
    /// Elsewhere.
    Other,
}

/// Bytes of a value, and their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The bytes, by their offsets in the location that was asked for.
    pub part: Range<u64>,
    /// Their origin.
    pub origin: Origin,
    /// The instructions that have copied the bytes, the last one first.
    pub path: Vec<usize>,
}

/// The origin of bytes. Instructions are given by their indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Memory as it was before an instruction that reads it; the index after the last one stands for
    /// the end of the window.
    Memory {
        /// The range.
        range: Range<u64>,
        /// The instruction.
        at: usize,
    },
    /// A register as it was before the first instruction.
    Register(Location),
    /// An instruction has computed them.
    Computed {
        /// The instruction.
        at: usize,
        /// The memory that it has read.
        inputs: Vec<Location>,
    },
    /// A constant of an instruction.
    Constant {
        /// The instruction.
        at: usize,
    },
    /// A value of the stack pointer.
    StackPointer {
        /// The instruction that changed it.
        at: usize,
    },
    /// The result of a system call.
    Kernel {
        /// The instruction.
        at: usize,
    },
    /// The processor told it: the time, a random number.
    Processor {
        /// The instruction.
        at: usize,
    },
    /// An instruction that is not modelled has written them.
    Unknown {
        /// The instruction.
        at: usize,
    },
    /// Too many pieces.
    TooMany,
}

/// A piece that is being followed.
struct Piece {
    /// The first byte in what was asked for.
    offset: u64,
    /// Whether all its bytes follow from the sign of one.
    is_sign: bool,
    location: Location,
    /// The instructions before which it is looked for.
    before: usize,
    /// The instruction that reads it.
    read_at: usize,
    path: Vec<usize>,
}

impl Window {
    /// Returns a window of these instructions, with the registers after them.
    pub fn new(steps: Vec<Executed>, end: Registers) -> Window {
        let effects = vec![OnceCell::new(); steps.len()];
        Window {
            steps,
            end,
            effects,
        }
    }

    /// Returns the instructions.
    pub fn steps(&self) -> &[Executed] {
        &self.steps
    }

    /// Returns whether an instruction writes to a range of memory.
    pub fn writes(&self, index: usize, range: &Range<u64>) -> bool {
        let wanted = Location::memory(range.clone());
        let mut writes = self.effects_of(index).into_iter().flat_map(|it| &it.writes);
        writes.any(|write| write.to.common(&wanted).is_some())
    }

    /// Returns whether an instruction calls a function, or returns from one.
    pub fn flow(&self, index: usize) -> Flow {
        let instruction = self.steps.get(index).map(decode);
        let instruction = instruction.filter(|it| it.mnemonic() != Mnemonic::Syscall);
        match instruction.map(|it| it.flow_control()) {
            Some(FlowControl::Call | FlowControl::IndirectCall) => Flow::Call,
            Some(FlowControl::Return) => Flow::Return,
            _ => Flow::Other,
        }
    }

    /// Returns whether an instruction makes a system call.
    pub fn is_system_call(&self, index: usize) -> bool {
        let instruction = self.steps.get(index).map(decode);
        instruction.is_some_and(|it| it.mnemonic() == Mnemonic::Syscall)
    }

    /// Returns the registers after an instruction.
    pub fn after(&self, index: usize) -> &Registers {
        self.steps
            .get(index + 1)
            .map_or(&self.end, |it| &it.registers)
    }

    /// Returns the ranges of memory that an instruction writes.
    pub fn written(&self, index: usize) -> Vec<Range<u64>> {
        let writes = self.effects_of(index).into_iter().flat_map(|it| &it.writes);
        writes
            .filter(|write| write.to.storage == Storage::Memory)
            .map(|write| write.to.range.clone())
            .collect()
    }

    /// Returns the origins of the bytes of a location, as they are before an instruction.
    pub fn trace(&self, location: &Location, before: usize) -> Vec<Leaf> {
        let mut pieces = vec![Piece {
            offset: 0,
            is_sign: false,
            location: location.clone(),
            before,
            read_at: before,
            path: Vec::new(),
        }];
        let mut leaves = Vec::new();
        let mut zeros = Vec::new();
        let mut count = 0;
        while let Some(piece) = pieces.pop() {
            count += 1;
            if count > PIECES_MAX {
                leaves.push(piece.leaf(Origin::TooMany));
                break;
            }
            self.follow(piece, &mut pieces, &mut leaves, &mut zeros);
        }
        // The zeros that extend a value are of no interest beside it.
        if leaves.is_empty() {
            leaves = zeros;
        }
        merged(leaves)
    }

    fn effects_of(&self, index: usize) -> Option<&Effects> {
        let step = self.steps.get(index)?;
        let known = self.effects.get(index)?;
        Some(known.get_or_init(|| {
            let after = self.after(index);
            let mut found = effects(step, after);
            match gap_behind(step, after) {
                Gap::None => {}
                Gap::Comparison => found.push(Location::flags(), From::Unknown),
                Gap::Any => found = unknown(&[]),
            }
            found
        }))
    }

    /// Follows a piece to the last instruction that has written some of it.
    fn follow(
        &self,
        piece: Piece,
        pieces: &mut Vec<Piece>,
        leaves: &mut Vec<Leaf>,
        zeros: &mut Vec<Leaf>,
    ) {
        let is_memory = piece.location.storage == Storage::Memory;
        let stretch = self
            .steps
            .get(piece.read_at)
            .or(self.steps.last())
            .map(|it| it.stretch);
        for index in (0..piece.before).rev() {
            if is_memory && self.steps.get(index).map(|it| it.stretch) != stretch {
                break;
            }
            let Some(effects) = self.effects_of(index) else {
                break;
            };
            let mut writes = effects.writes.iter();
            let found = writes.find_map(|write| Some((write, write.to.common(&piece.location)?)));
            let Some((write, common)) = found else {
                if is_memory && effects.is_barrier {
                    break;
                }
                continue;
            };
            for rest in [
                piece.location.range.start..common.start,
                common.end..piece.location.range.end,
            ] {
                if rest.start < rest.end {
                    // The instruction may have written the rest, too.
                    pieces.push(piece.narrowed(rest, index + 1));
                }
            }
            let hit = piece.narrowed(common.clone(), index);
            let skipped = common.start.wrapping_sub(write.to.range.start);
            take(hit, &write.from, (index, skipped), pieces, leaves, zeros);
            return;
        }
        let origin = if is_memory {
            Origin::Memory {
                range: piece.location.range.clone(),
                at: piece.read_at,
            }
        } else if piece.location.storage == Storage::Other {
            Origin::Unknown { at: piece.read_at }
        } else {
            Origin::Register(piece.location.clone())
        };
        leaves.push(piece.leaf(origin));
    }
}

/// Takes a piece that an instruction has written.
fn take(
    mut piece: Piece,
    from: &From,
    (at, skipped): (usize, u64),
    pieces: &mut Vec<Piece>,
    leaves: &mut Vec<Leaf>,
    zeros: &mut Vec<Leaf>,
) {
    let origin = match from {
        From::Copy(source) => {
            let size = piece.location.size();
            piece.location = source.part(skipped..skipped + size);
            piece.read_at = at;
            piece.path.push(at);
            return pieces.push(piece);
        }
        From::Sign(source) => {
            piece.location = source.clone();
            piece.is_sign = true;
            piece.read_at = at;
            piece.path.push(at);
            return pieces.push(piece);
        }
        From::Zeros => return zeros.push(piece.leaf(Origin::Constant { at })),
        From::Constant => Origin::Constant { at },
        From::Computed(inputs) => Origin::Computed {
            at,
            inputs: inputs.clone(),
        },
        From::StackPointer => Origin::StackPointer { at },
        From::Kernel => Origin::Kernel { at },
        From::Processor => Origin::Processor { at },
        From::Unknown => Origin::Unknown { at },
    };
    leaves.push(piece.leaf(origin));
}

impl Piece {
    /// Returns the part of it that has this range, which is looked for before an instruction.
    fn narrowed(&self, range: Range<u64>, before: usize) -> Piece {
        Piece {
            offset: if self.is_sign {
                self.offset
            } else {
                self.offset + range.start.wrapping_sub(self.location.range.start)
            },
            is_sign: self.is_sign,
            location: Location {
                storage: self.location.storage,
                range,
            },
            before,
            read_at: self.read_at,
            path: self.path.clone(),
        }
    }

    fn leaf(self, origin: Origin) -> Leaf {
        Leaf {
            part: self.offset..self.offset + self.location.size(),
            origin,
            path: self.path,
        }
    }
}

/// Joins leaves that continue each other.
fn merged(mut leaves: Vec<Leaf>) -> Vec<Leaf> {
    leaves.sort_by_key(|leaf| (leaf.part.start, leaf.part.end));
    let mut merged: Vec<Leaf> = Vec::new();
    for leaf in leaves {
        if !merged.iter_mut().rev().any(|before| join(before, &leaf)) {
            merged.push(leaf);
        }
    }
    merged
}

/// Takes a leaf into another one, if both have one origin.
fn join(before: &mut Leaf, leaf: &Leaf) -> bool {
    let is_joined = match (&mut before.origin, &leaf.origin) {
        (
            Origin::Memory { range, at },
            Origin::Memory {
                range: next,
                at: also,
            },
        ) => at == also && extend(range, next),
        (Origin::Register(one), Origin::Register(other)) => {
            one.storage == other.storage && extend(&mut one.range, &other.range)
        }
        (one, other) => one == other,
    };
    if is_joined {
        before.part.end = before.part.end.max(leaf.part.end);
    }
    is_joined
}

/// Extends a range by one that it touches.
fn extend(range: &mut Range<u64>, next: &Range<u64>) -> bool {
    let touches = next.start <= range.end && range.start <= next.end;
    if touches {
        *range = range.start.min(next.start)..range.end.max(next.end);
    }
    touches
}
