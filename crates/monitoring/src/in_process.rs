//! Properties that the program steps itself.
//!
//! A property is *native* while its slices are in a table that the program shares, and
//! code in the program takes its events: stubs, to which patches at the functions'
//! entries and return sites lead. An event that a stub does not take stops the program
//! as ever; it is taken on the same table. [`Monitor`](juror_monitor::Monitor) is behind
//! then, and is brought up to date at each stop that is shown (`keeping`).
//!
//! A run that needs each event in juror ends that state: the property continues with
//! its monitor and with traps, and becomes native again when the program continues.
//!
//! **Invariant**: at each stop that is shown, the monitor of a native property is what it
//! would be had it taken all events itself.

mod current;
mod drafts;
mod keeping;
mod memory;
mod patching;
mod property;
mod records;
mod returns;
mod stepping;
mod stub;
mod tiers;

pub use current::CurrentMonitor;
pub(crate) use property::NativeSlot;

use drafts::Drafts;
use juror_debuggee::{Owner, Patch};
use juror_instrument::sites::Texts;
use juror_monitor::lowering::NotNative;
use juror_stub::punning::Placement;
use records::Journals;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// The reason that needs no words.
const ASKED: &str = "is taken by traps as asked";
/// In place of a number of probes: the refusal is about the circumstances, and ends with
/// them.
const CIRCUMSTANCE: usize = usize::MAX;

/// How the events of properties are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tier {
    /// In the program where that is possible, else by traps.
    #[default]
    Auto,
    /// In the program; a property that is not possible there is an error.
    Native,
    /// By traps.
    Trap,
}

/// The circumstances of a run in which properties may be native.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    /// What the user has asked for.
    pub tier: Tier,
    /// What must see each event or each change of a state, as words that follow the property.
    pub watched: Option<&'static str>,
}

/// The native properties of a process, as far as it is not of one property.
#[derive(Debug, Default)]
pub(crate) struct NativeTier {
    journals: Journals,
    has_records: bool,
    /// The code of the modules.
    texts: Texts,
    /// The parts of the program near which code can be placed, by their gates.
    clusters: Vec<Cluster>,
    /// The stubs that were made last.
    drafts: Drafts,
    /// The patched entries, and those that could not be patched.
    pub(crate) entries: BTreeMap<u64, Site>,
    /// The return sites.
    pub(crate) returns: BTreeMap<u64, Site>,
    /// Why a property is not native, by its number, and the number of its probes when
    /// that was found.
    refusals: FxHashMap<usize, (NotNative, usize)>,
}

/// A part of the program that one gate serves.
#[derive(Debug)]
struct Cluster {
    gate: u64,
    /// What was free when it was made: no other cluster takes of it.
    free: Vec<Range<u64>>,
    placement: Placement,
}

/// An address of native events.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The probes that its stub has sections for, in the order of the sections.
    probes: Vec<u32>,
    /// The owner of the site, and the number of inserts.
    owned: (Owner, u32),
    /// The patch, or the reason why there is none.
    pub(crate) patch: Result<Patch, String>,
}
