//! The words of the image that records calls, by their offsets from its entry, and those of the ring.

/// The address behind the image's own call, from its entry.
pub const BEHIND_CALL: u64 = 18;
/// The end of the code.
pub const CODE_END: u64 = 4_096;
/// The address of the ring.
pub const RING: u64 = 4_096;
/// Whether calls are recorded here; else all go on at their own instruction.
pub const ENABLED: u64 = 4_104;
/// The stack pointer of the program.
pub const SAVED_STACK: u64 = 4_160;
/// The end of the stack.
pub const STACK_TOP: u64 = 8_192;
/// The table: a word for each call.
pub const TABLE: u64 = 8_192;
/// The number of words in the table.
pub const NUMBERS: u64 = 512;
/// The size of the image.
pub const SIZE: u64 = 12_288;

/// The number of bytes of entries, which the program writes when an entry is whole.
pub const WRITTEN: u64 = 0;
/// The number of bytes from which on calls go on at their own instruction.
pub const TURN: u64 = 64;
/// A bit for each descriptor: it is open, and leads to a file whose calls do not wait.
pub const FILES: u64 = 128;
/// The number of these bits.
pub const DESCRIPTORS: u64 = 1_024;
/// The entries.
pub const ENTRIES: u64 = 4_096;
/// The bytes that they have at most.
pub const CAPACITY: u64 = 1 << 20;
/// The most bytes of an entry beside those that a call's arguments ask for.
pub const ENTRY_MOST: u64 = 1_024;

/// The bytes of an entry before those that the kernel has written: its length and the number of the call
/// (4 bytes each), the address behind the call, three arguments, the result, the address of the first
/// range, the lengths of the two (4 bytes each), the address of the second one.
pub const HEADER: u64 = 72;

/// The flags of a call, in the first byte of its word: it is recorded.
pub const IS_RECORDED: u64 = 1;
/// The first argument is a descriptor with its bit.
pub const NEEDS_FILE: u64 = 2;
/// The second argument is one of [`COMMANDS`].
pub const NEEDS_COMMAND: u64 = 4;
/// It maps private memory that is no file's and not executable.
pub const NEEDS_ANONYMOUS: u64 = 8;
/// The second argument is [`TERMINAL_QUESTION`].
pub const NEEDS_QUESTION: u64 = 16;
/// It closes its first argument, which loses its bit.
pub const CLOSES: u64 = 32;
/// `TCGETS`, which fails for each file that is no terminal.
pub const TERMINAL_QUESTION: u64 = 0x5401;
/// The commands of fcntl(2) that do not wait and write nothing: `F_GETFD`, `F_SETFD`, `F_GETFL`,
/// `F_SETLK`.
pub const COMMANDS: u64 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6;
