//! Shapes: the processes of a state, and their offsets.
//!
//! States with the same processes have the same shape, and start with its number, so that
//! the layout is computed once per shape. Shapes are numbered on demand; the numbers
//! belong to one [`Shapes`].

use super::program::{GLOBALS_START, Program};
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of channels at a time: their numbers are bytes.
pub(super) const CHANNELS_MAX: usize = 255;

/// A process of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub kind: u16,
    /// Offset in the state.
    pub base: u32,
}

/// A channel of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChannelAt {
    pub kind: u16,
    pub base: u32,
}

/// The processes and channels of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub number: u16,
    pub frames: Vec<Frame>,
    /// The channel numbered n is at index n - 1; number 0 is no channel.
    pub channels: Vec<ChannelAt>,
    pub size: u32,
}

/// Maximum size of a state in bytes.
const SIZE_MAX: u32 = 1 << 20;

/// All shapes created so far.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    shapes: Vec<Arc<Shape>>,
    numbers: FxHashMap<Vec<u16>, u16>,
}

impl Shapes {
    /// Returns the shape with a number.
    pub fn get(&self, number: u16) -> Option<Arc<Shape>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.shapes.get(number as usize).cloned()
    }

    /// Returns the shape of a list of process types. `None` if there are too many shapes,
    /// or the state would be too large.
    pub fn of(&self, program: &Program, kinds: &[u16]) -> Option<Arc<Shape>> {
        {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(number) = table.numbers.get(kinds) {
                return table.shapes.get(*number as usize).cloned();
            }
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = table.numbers.get(kinds) {
            return table.shapes.get(*number as usize).cloned();
        }
        let number = u16::try_from(table.shapes.len()).ok()?;
        let shape = Arc::new(Shape::new(program, number, kinds));
        if shape.channels.len() > CHANNELS_MAX || shape.size > SIZE_MAX {
            return None;
        }
        table.shapes.push(Arc::clone(&shape));
        table.numbers.insert(kinds.to_vec(), number);
        Some(shape)
    }
}

impl Shape {
    fn new(program: &Program, number: u16, kinds: &[u16]) -> Shape {
        let mut shape = Shape {
            number,
            frames: Vec::new(),
            channels: Vec::new(),
            size: GLOBALS_START.max(program.globals_end),
        };
        shape.add_channels(program, &program.global_channels);
        for kind in kinds {
            shape.frames.push(Frame {
                kind: *kind,
                base: shape.size,
            });
            let Some(process) = program.kinds.get(*kind as usize) else {
                continue;
            };
            shape.size += process.frame_size;
            shape.add_channels(program, &process.channels);
        }
        shape
    }

    fn add_channels(&mut self, program: &Program, channels: &[u16]) {
        for kind in channels {
            self.channels.push(ChannelAt {
                kind: *kind,
                base: self.size,
            });
            self.size += program
                .channels
                .get(*kind as usize)
                .map_or(0, |channel| channel.size);
        }
    }

    /// Returns the types of its processes.
    pub fn kinds(&self) -> Vec<u16> {
        self.frames.iter().map(|frame| frame.kind).collect()
    }

    /// Returns a channel by the value that refers to it.
    pub fn channel(&self, value: i32) -> Option<ChannelAt> {
        let index = usize::try_from(value).ok()?.checked_sub(1)?;
        self.channels.get(index).copied()
    }
}
