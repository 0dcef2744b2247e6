//! Several system calls of a stopped task in one run.
//!
//! Most of the cost of a call is waking the task and waiting for its stop. So
//! the calls are written into the data page as a table, which a routine beside
//! the gadget executes; and several tasks do so at the same time.
//!
//! Invariant: as in `bare`, a task is stopped before and after, with the same
//! registers and the same signal mask. The arguments of a call lie in the part
//! of the data page that belongs to its batch.

use nix::errno::Errno;

use super::bare::{self, Answer};
use super::threads::{Place, read, write};
use crate::kernel::Outcome;
use crate::kernel::mapping::PAGE_LENGTH;
use crate::memory::Memory;
use crate::state::out_of_line::{CALLS, CALLS_COUNT, CALLS_OFFSET, CALLS_TABLE};

/// The number of the call and its six arguments.
const WORDS: usize = 7;
const WORD_LENGTH: usize = size_of::<u64>();
const CALL_LENGTH: usize = WORDS * WORD_LENGTH;

/// An argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Word(u64),
    /// The address of data of the batch.
    Data(Data),
}

/// Data of a batch, by its offset there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Data(usize);

impl From<u64> for Argument {
    fn from(word: u64) -> Argument {
        Argument::Word(word)
    }
}

impl From<Data> for Argument {
    fn from(data: Data) -> Argument {
        Argument::Data(data)
    }
}

/// Calls of one task, in order.
#[derive(Debug, Default, Clone)]
pub(super) struct Batch {
    calls: Vec<[Argument; WORDS]>,
    data: Vec<u8>,
    /// Words of the data that hold addresses of other data.
    pointers: Vec<(Data, Data)>,
}

/// The results of a batch.
#[derive(Debug, Default)]
pub(super) struct Answers {
    results: Vec<i64>,
    data: Vec<u8>,
    /// The tasks that the calls made, which are stopped, in order.
    pub(super) made: Vec<u32>,
}

impl Batch {
    /// Appends a call; returns its index.
    pub(super) fn call<const COUNT: usize>(
        &mut self,
        number: i64,
        arguments: [Argument; COUNT],
    ) -> usize {
        let mut words = [Argument::Word(0); WORDS];
        let given = std::iter::once(Argument::Word(number as u64)).chain(arguments);
        for (to, from) in words.iter_mut().zip(given) {
            *to = from;
        }
        self.calls.push(words);
        self.calls.len() - 1
    }

    /// Appends data that calls read or write in place.
    pub(super) fn data(&mut self, bytes: &[u8]) -> Data {
        let place = Data(self.data.len());
        self.data.extend_from_slice(bytes);
        let aligned = self.data.len().next_multiple_of(WORD_LENGTH);
        self.data.resize(aligned, 0);
        place
    }

    /// Makes a word of `data`, by its index, the address of other data.
    pub(super) fn point(&mut self, data: Data, word: usize, to: Data) {
        self.pointers.push((Data(data.0 + word * WORD_LENGTH), to));
    }

    /// Returns the number of bytes that it takes in the data page.
    pub(super) fn length(&self) -> usize {
        self.calls.len() * CALL_LENGTH + self.data.len()
    }

    /// Returns the number of bytes that are left in a data page.
    pub(super) fn room(&self) -> usize {
        (PAGE_LENGTH as usize).saturating_sub(self.length())
    }

    /// Returns the bytes to write to the memory at `start`: the table, then the
    /// data.
    fn bytes(&self, start: u64) -> Vec<u8> {
        let data_start = start + (self.calls.len() * CALL_LENGTH) as u64;
        let address = |data: Data| data_start + data.0 as u64;
        let words = self.calls.iter().flatten().map(|argument| match *argument {
            Argument::Word(word) => word,
            Argument::Data(data) => address(data),
        });
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let mut data = self.data.clone();
        for &(at, to) in &self.pointers {
            if let Some(word) = data.get_mut(at.0..at.0 + WORD_LENGTH) {
                word.copy_from_slice(&address(to).to_le_bytes());
            }
        }
        bytes.extend(data);
        bytes
    }

    /// Makes a task execute these calls. If a call fails, the later ones are
    /// still made.
    pub(super) fn run(&self, task: u32, memory: &Memory, place: Place) -> Outcome<Answers> {
        let mut all = run_together(&[(task, self)], memory, place)?;
        all.pop().ok_or(Errno::ESRCH)
    }
}

impl Answers {
    /// Returns the result of a call.
    pub(super) fn of(&self, call: usize) -> Outcome<i64> {
        let result = self.results.get(call).copied().ok_or(Errno::ESRCH)?;
        Answer { result, made: None }.checked().map(|it| it.result)
    }

    /// Returns the first refusal, if there is one.
    pub(super) fn all(&self) -> Outcome<()> {
        (0..self.results.len()).try_for_each(|call| self.of(call).map(drop))
    }

    /// Returns data as the calls have left it.
    pub(super) fn bytes<const LENGTH: usize>(&self, data: Data) -> Outcome<[u8; LENGTH]> {
        let found = self.data.get(data.0..data.0 + LENGTH);
        let found = found.and_then(|found| found.try_into().ok());
        found.ok_or(Errno::EFAULT)
    }
}

/// Makes tasks of one memory execute their calls, as many at a time as the data
/// page has room for. The answers are in the order of the tasks.
pub(super) fn run_together(
    batches: &[(u32, &Batch)],
    memory: &Memory,
    place: Place,
) -> Outcome<Vec<Answers>> {
    let mut answers = Vec::with_capacity(batches.len());
    let mut rest = batches;
    while let Some((_, first)) = rest.first() {
        let mut length = first.length();
        let fits = |(_, batch): &&(u32, &Batch)| {
            length += batch.length();
            length <= PAGE_LENGTH as usize
        };
        let count = 1 + rest.iter().skip(1).take_while(fits).count();
        let (now, later) = rest.split_at(count);
        answers.extend(run_in_one_page(now, memory, place)?);
        rest = later;
    }
    Ok(answers)
}

fn run_in_one_page(
    batches: &[(u32, &Batch)],
    memory: &Memory,
    place: Place,
) -> Outcome<Vec<Answers>> {
    let mut page = Vec::new();
    let mut starts = Vec::with_capacity(batches.len());
    for (_, batch) in batches {
        starts.push(page.len());
        page.extend(batch.bytes(place.data + page.len() as u64));
    }
    if page.len() > PAGE_LENGTH as usize {
        return Err(Errno::E2BIG);
    }
    write(memory, place.data, &page)?;
    let entry = place.gadget + CALLS_OFFSET;
    let end = entry + CALLS.len() as u64;
    let begin = |((task, batch), start): (&(u32, &Batch), &usize)| {
        let calls = batch.calls.len() as u64;
        let begin = || {
            bare::begin(*task, |registers| {
                registers.set_instruction_pointer(entry);
                registers.set(CALLS_TABLE, place.data + *start as u64);
                registers.set(CALLS_COUNT, calls);
            })
        };
        (calls > 0).then(begin).transpose()
    };
    let begun: Vec<_> = batches.iter().zip(&starts).map(begin).collect();
    // All are waited for, also if one is gone.
    let ended = begun.into_iter().map(|begun| match begun? {
        Some(begun) => begun.end(end),
        None => Ok(Vec::new()),
    });
    let ended: Vec<Outcome<Vec<u32>>> = ended.collect();
    let made = ended.into_iter().collect::<Outcome<Vec<_>>>()?;
    read(memory, place.data, &mut page)?;
    let parts = batches.iter().zip(starts).zip(made);
    Ok(parts
        .map(|(((_, batch), start), made)| batch.answers(&page, start, made))
        .collect())
}

impl Batch {
    fn answers(&self, page: &[u8], start: usize, made: Vec<u32>) -> Answers {
        let table = start..start + self.calls.len() * CALL_LENGTH;
        let data = table.end..table.end + self.data.len();
        let calls = page.get(table).unwrap_or(&[]).chunks(CALL_LENGTH);
        let result = |call: &[u8]| {
            let word = call.first_chunk::<WORD_LENGTH>();
            word.map_or(-i64::from(libc::EFAULT), |word| i64::from_le_bytes(*word))
        };
        Answers {
            results: calls.map(result).collect(),
            data: page.get(data).unwrap_or(&[]).to_vec(),
            made,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u64> {
        let words = bytes.chunks(WORD_LENGTH);
        words
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn a_batch_is_a_table_and_its_data() {
        let mut batch = Batch::default();
        let first = batch.data(&[1, 0, 0]);
        let second = batch.data(&[0; 16]);
        batch.point(second, 1, first);
        batch.call(39, []);
        let place = batch.call(5, [7.into(), second.into()]);
        assert_eq!((place, batch.length()), (1, 2 * 56 + 24));
        let data = 0x1000 + 2 * 56;
        let expected = [
            39,
            0,
            0,
            0,
            0,
            0,
            0, // one call
            5,
            7,
            data + 8,
            0,
            0,
            0,
            0, // another
            1,
            0,
            data, // the data
        ];
        assert_eq!(words(&batch.bytes(0x1000)), expected);
    }

    #[test]
    fn answers_are_in_the_place_of_the_numbers() {
        let mut batch = Batch::default();
        let data = batch.data(&[0; 8]);
        batch.call(1, []);
        batch.call(2, []);
        let mut page = vec![0; 3];
        page.extend(batch.bytes(0));
        page[3..11].copy_from_slice(&12_i64.to_le_bytes());
        page[59..67].copy_from_slice(&(-2_i64).to_le_bytes());
        page[115..123].copy_from_slice(&9_u64.to_le_bytes());
        let answers = batch.answers(&page, 3, vec![4]);
        assert_eq!(answers.of(0), Ok(12));
        assert_eq!(answers.of(1), Err(Errno::ENOENT));
        assert_eq!(answers.all(), Err(Errno::ENOENT));
        assert_eq!(answers.bytes(data), Ok(9_u64.to_le_bytes()));
        assert_eq!(answers.made, [4]);
    }
}
