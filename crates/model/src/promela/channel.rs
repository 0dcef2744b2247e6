//! Channel contents.
//!
//! A channel is encoded as its length and its messages, oldest first; unused slots are 0,
//! so that equal channels have equal bytes.

use super::evaluate::View;
use super::machine::Machine;
use super::memory::{byte, load, store};
use super::program::{ChannelType, Code, Field, Reception};
use super::shape::{ChannelAt, Shape};
use super::trap::Trap;

/// A message.
pub(super) type Message = Vec<i32>;

/// Returns the offset of the messages of a channel.
fn messages(at: ChannelAt) -> u32 {
    at.base + 1
}

impl View<'_> {
    /// Evaluates the message that is sent; its values are checked against the field
    /// types.
    pub fn message(
        &self,
        kind: &ChannelType,
        values: &[Code],
        into: &mut Message,
    ) -> Result<(), Trap> {
        into.clear();
        if values.len() != kind.fields.len() {
            let code = values.first().copied().unwrap_or(Code(0));
            return Err(Trap::fields(code, values.len(), kind.fields.len()));
        }
        for (value, cell) in values.iter().zip(&kind.fields) {
            let number = self.value(*value)?;
            into.push(self.machine.fitting(number, &cell.scalar, *value)?);
        }
        Ok(())
    }

    /// Returns the slot of the message that would be received. A poll may omit trailing
    /// fields.
    pub fn matching(&self, reception: &Reception, looks: bool) -> Result<Option<u32>, Trap> {
        let (_, at) = self.channel(reception.channel)?;
        let kind = self.machine.channel_type(at);
        if kind.capacity == 0 {
            return Err(Trap::NothingInside(reception.channel));
        }
        let (kept, asked) = (kind.fields.len(), reception.fields.len());
        if asked > kept || asked < kept && !looks {
            return Err(Trap::fields(reception.channel, asked, kept));
        }
        let length = u32::from(byte(self.state, at.base));
        let last = if reception.anywhere {
            length
        } else {
            length.min(1)
        };
        for slot in 0..last {
            if self.fits(reception, kind, messages(at) + slot * kind.message_size)? {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    fn fits(&self, reception: &Reception, kind: &ChannelType, base: u32) -> Result<bool, Trap> {
        for (field, cell) in reception.fields.iter().zip(&kind.fields) {
            if let Field::Equal(code) = field
                && self.value(*code)? != load(self.state, base, cell)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a rendezvous message matches a reception.
    pub fn accepts(&self, reception: &Reception, message: &[i32]) -> Result<bool, Trap> {
        if message.len() != reception.fields.len() {
            let (given, wanted) = (reception.fields.len(), message.len());
            return Err(Trap::fields(reception.channel, given, wanted));
        }
        for (field, value) in reception.fields.iter().zip(message) {
            if let Field::Equal(code) = field
                && self.value(*code)? != *value
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Machine {
    /// Returns the type of a channel.
    pub fn channel_type(&self, at: ChannelAt) -> &ChannelType {
        // Shapes refer to channel types of the program.
        &self.program.channels[at.kind as usize]
    }

    /// Inserts a message into a channel that has room: at the end, or in sorted order.
    pub(super) fn put(&self, state: &mut [u8], at: ChannelAt, message: &[i32], sorted: bool) {
        let kind = self.channel_type(at);
        let length = u32::from(byte(state, at.base));
        let slot = if sorted {
            (0..length).find(|slot| {
                let base = messages(at) + slot * kind.message_size;
                let there = kind.fields.iter().map(|cell| load(state, base, cell));
                there.cmp(message.iter().copied()).is_gt()
            })
        } else {
            None
        };
        let slot = slot.unwrap_or(length);
        let size = kind.message_size as usize;
        let from = (messages(at) + slot * kind.message_size) as usize;
        let end = (messages(at) + length * kind.message_size) as usize;
        if end + size <= state.len() {
            state.copy_within(from..end, from + size);
        }
        for (cell, value) in kind.fields.iter().zip(message) {
            store(state, from as u32, cell, *value);
        }
        if let Some(length) = state.get_mut(at.base as usize) {
            *length += 1;
        }
    }

    /// Reads the message in a slot.
    pub(super) fn read(&self, state: &[u8], at: ChannelAt, slot: u32, into: &mut Message) {
        let kind = self.channel_type(at);
        let base = messages(at) + slot * kind.message_size;
        into.clear();
        into.extend(kind.fields.iter().map(|cell| load(state, base, cell)));
    }

    /// Removes the message in a slot.
    pub(super) fn take(&self, state: &mut [u8], at: ChannelAt, slot: u32) {
        let kind = self.channel_type(at);
        let length = u32::from(byte(state, at.base));
        let size = kind.message_size as usize;
        let from = (messages(at) + slot * kind.message_size) as usize;
        let end = (messages(at) + length * kind.message_size) as usize;
        if from + size <= end && end <= state.len() {
            state.copy_within(from + size..end, from);
            state[end - size..end].fill(0);
        }
        if let Some(length) = state.get_mut(at.base as usize) {
            *length = length.saturating_sub(1);
        }
    }

    /// Returns the messages of a channel, for display.
    pub(super) fn contents(&self, state: &[u8], shape: &Shape, number: i32) -> Vec<Message> {
        let Some(at) = shape.channel(number) else {
            return Vec::new();
        };
        let length = match self.channel_type(at).capacity {
            0 => 0,
            _ => u32::from(byte(state, at.base)),
        };
        let mut contents = Vec::new();
        for slot in 0..length {
            let mut message = Vec::new();
            self.read(state, at, slot, &mut message);
            contents.push(message);
        }
        contents
    }
}
