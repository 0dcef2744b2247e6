//! Finds the heads in the code of one module, and refuses those that must not be patched.

use super::segment::{Segment, Surroundings};
use super::{Heads, NoHead, denied, elf};
use juror_stub::head::{BranchTargets, Head, Obstacle, Place, Site, Text};
use juror_symbols::{Function, SymbolFile};
use std::ops::Range;
use std::sync::Arc;

/// The largest distance from the end of a function to the next one, in bytes.
const ALIGNMENT: u64 = 16;
/// The largest size in bytes of the descriptors of restartable sequences.
const DESCRIPTORS_SIZE_MAX: u64 = 1 << 20;

/// A site at which a head is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) address: u64,
    pub(super) place: Place,
    /// The address of the next site.
    pub(super) next: u64,
    pub(super) shadow_stack: bool,
}

/// The code of one module. All addresses are those of the process.
#[derive(Debug)]
pub(super) struct ModuleCode {
    symbols: SymbolFile,
    bias: u64,
    segments: Vec<Segment>,
    /// The descriptors of restartable sequences.
    descriptors: Range<u64>,
    has_text_relocations: bool,
    is_unwinder: bool,
}

impl ModuleCode {
    /// Returns the code of a file that is loaded with a bias.
    pub(super) fn new(symbols: &SymbolFile, bias: u64) -> ModuleCode {
        let descriptors = elf::sequence_descriptors(symbols);
        let name = symbols.path().file_name().unwrap_or_default();
        ModuleCode {
            segments: Segment::all(symbols, bias),
            descriptors: if descriptors.is_empty() {
                0..0
            } else {
                descriptors.start.wrapping_add(bias)..descriptors.end.wrapping_add(bias)
            },
            has_text_relocations: symbols.has_text_relocations(),
            is_unwinder: denied::is_unwinder(&name.to_string_lossy()),
            symbols: symbols.clone(),
            bias,
        }
    }

    fn segment_at(&self, address: u64) -> Option<&Segment> {
        let mut segments = self.segments.iter();
        segments.find(|it| it.range.contains(&address))
    }

    /// Returns whether the search for the heads of the return site at an address is deferred.
    pub(super) fn puts_off(&self, address: u64) -> bool {
        self.segment_at(address).is_some_and(Segment::puts_off)
    }

    /// Returns the heads at a site, the best first, by the bytes of the file.
    pub(super) fn heads(&self, wanted: Wanted) -> Result<Heads, NoHead> {
        let address = wanted.address;
        let segment = self.segment_at(address).ok_or(NoHead::NotOfFile)?;
        let around = segment.around(address).ok_or(NoHead::NotOfFile)?;
        let function = self.function_at(address);
        if let Some(why) = self.denies(around.text(), address, function.as_ref()) {
            return Err(why);
        }
        let of_function = function.as_ref().and_then(|it| self.range_of(it, address));
        let own = match (wanted.place, &of_function) {
            // A branch from another function to the entry is a tail call.
            (Place::Entry, Some(function)) => self.branches_of(function),
            _ => BranchTargets::default(),
        };
        let range = of_function.or_else(|| around.unit.clone());
        let end = range.as_ref().map_or(around.end(), |range| range.end);
        let site = Site {
            address,
            end,
            place: wanted.place,
            branches: &own,
            shadow_stack: wanted.shadow_stack,
        };
        let padding = || range.and_then(|_| self.end_of_padding(end));
        let usual = usual_head(&around, site, padding).map_err(NoHead::from);
        let usual = usual.and_then(|head| {
            if head.end() > wanted.next {
                Err(NoHead::NextSite(wanted.next))
            } else {
                Ok(head)
            }
        });
        let is_good = |head: &Head| !head.is_costly(&around.branches);
        let suffices = wanted.place == Place::Entry || usual.as_ref().is_ok_and(is_good);
        let mut possible = if suffices {
            Vec::new()
        } else {
            short_heads(&around, site, wanted.next)
        };
        let refused = match usual {
            Ok(usual) => {
                possible.push(usual);
                None
            }
            Err(why) if possible.is_empty() => return Err(why),
            Err(why) => Some(why),
        };
        Ok(Heads { possible, refused })
    }

    /// Returns the reason for which the instructions at an address must not be patched, if there is
    /// one.
    fn denies(&self, text: Text<'_>, address: u64, function: Option<&Function>) -> Option<NoHead> {
        if self.has_text_relocations {
            return Some(NoHead::RelocatedText);
        }
        if self.is_unwinder {
            return Some(NoHead::Unwinder);
        }
        let offset = usize::try_from(address.wrapping_sub(text.address)).ok();
        let code = offset.and_then(|offset| text.bytes.get(offset..));
        if denied::is_signal_return(code.unwrap_or_default()) {
            return Some(NoHead::SignalReturn);
        }
        if function.is_some_and(|it| self.symbols.is_of_go(it)) {
            return Some(NoHead::Go);
        }
        function.and_then(denied_name).map(NoHead::Function)
    }

    /// Checks that the process has the bytes of a head, and that no restartable sequence overlaps
    /// it. `read` returns memory without traps.
    pub(super) fn check_process(
        &self,
        head: &Head,
        read: impl Fn(u64, &mut [u8]) -> bool,
    ) -> Result<(), NoHead> {
        let mut original = head.original_bytes();
        original.extend_from_slice(&head.behind);
        let mut bytes = vec![0; original.len()];
        if !read(head.jump, &mut bytes) || bytes != original {
            return Err(NoHead::Differs);
        }
        if self.descriptors.is_empty() {
            return Ok(());
        }
        let size = self.descriptors.end.wrapping_sub(self.descriptors.start);
        if size > DESCRIPTORS_SIZE_MAX {
            return Err(NoHead::RestartableSequence);
        }
        let mut descriptors = vec![0; usize::try_from(size).unwrap_or(0)];
        let is_read = read(self.descriptors.start, &mut descriptors);
        let sequences = elf::sequences(&descriptors).filter(|_| is_read);
        let end = head.jump.wrapping_add(original.len() as u64);
        let overlaps = |it: &Range<u64>| it.start < end && head.jump < it.end;
        if sequences.is_none_or(|all| all.iter().any(overlaps)) {
            Err(NoHead::RestartableSequence)
        } else {
            Ok(())
        }
    }

    fn function_at(&self, address: u64) -> Option<Function> {
        self.symbols.function_at(address.wrapping_sub(self.bias))
    }

    /// Returns the range of a function that contains an address.
    fn range_of(&self, function: &Function, address: u64) -> Option<Range<u64>> {
        let file_address = address.wrapping_sub(self.bias);
        let mut ranges = function.ranges.iter();
        let range = ranges.find(|range| range.contains(&file_address))?;
        Some(range.start.wrapping_add(self.bias)..range.end.wrapping_add(self.bias))
    }

    /// Returns the targets of the branches of a function.
    fn branches_of(&self, function: &Range<u64>) -> BranchTargets {
        let size = function.end.saturating_sub(function.start);
        let bytes = self
            .symbols
            .bytes_at(function.start.wrapping_sub(self.bias), size);
        BranchTargets::of(Text {
            address: function.start,
            bytes: &bytes.unwrap_or_default(),
        })
    }

    /// Returns the end of the padding after a function, or `None` if it has none.
    fn end_of_padding(&self, end: u64) -> Option<u64> {
        let aligned = end.checked_next_multiple_of(ALIGNMENT)?;
        let is_described = |address: u64| {
            let described = self
                .symbols
                .has_unwind_rules(address.wrapping_sub(self.bias));
            described || self.function_at(address).is_some()
        };
        let own = (end..aligned).find(|address| is_described(*address));
        let padded = own.unwrap_or(aligned);
        (padded > end).then_some(padded)
    }
}

/// Returns the head at a site that contains the complete jump. If the function is too short, the
/// padding after it is used.
fn usual_head(
    around: &Surroundings,
    site: Site<'_>,
    padding: impl FnOnce() -> Option<u64>,
) -> Result<Head, Obstacle> {
    let mut found = Head::at(around.text(), site);
    if let Err(Obstacle::TooShort(_)) = found
        && let Some(end) = padding()
    {
        found = Head::at(around.text(), Site { end, ..site });
    }
    let head = found?;
    match head.branch_inside(&around.branches) {
        Some((target, from)) => Err(Obstacle::BranchTargetInside { target, from }),
        None => Ok(head),
    }
}

/// Returns the short heads at a site, whose jumps end before the next site, without costly ones.
fn short_heads(around: &Surroundings, site: Site<'_>, next: u64) -> Vec<Head> {
    let mut heads = Head::short(around.text(), site);
    heads.retain_mut(|head| {
        let room = usize::try_from(next.saturating_sub(head.end())).unwrap_or(usize::MAX);
        head.behind.truncate(room);
        !head.is_costly(&around.branches)
    });
    heads
}

/// Returns the name of a function that must not be patched, or `None` for others.
fn denied_name(function: &Function) -> Option<Arc<str>> {
    let names = [Some(&function.name), function.linkage_name.as_ref()];
    let mut names = names.into_iter().flatten();
    names.find(|name| denied::is_function(name)).cloned()
}
