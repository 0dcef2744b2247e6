//! The addresses where inlined calls begin, so that each call can be observed exactly once.
//!
//! The entry of a copy is not always passed once per call: the optimizer duplicates code
//! (jump threading, unrolling), bypasses it, and merges two calls that only the source
//! distinguishes. So each copy is checked, by the marks in the line table
//! ([`super::holder`]) and by the paths into its code. Marks are statements and stay in
//! place when the scheduler moves instructions, so paths around a mark are detected by the
//! statements on them. A copy without marks must have a single entry. If a call may be
//! observed twice or never, the copy has a [`Doubt`].
//!
//! **Invariant:** a copy without doubt has an address for each path into its code, and
//! every call passes exactly one of them, once. A copy that left neither code nor entry is
//! unknown here.

use super::code::Code;
use super::entry_line::is_line_of;
use super::holder::{Held, Holder, Mark};
use super::{Doubt, InlinedCopy, inlined_chain};
use crate::SymbolFile;
use crate::dwarf::{DebugInfo, DieRef};
use crate::line::Row;
use crate::parameters::inlined_parameters;
use crate::variable::Variable;
use std::sync::Arc;

/// An inlined call.
#[derive(Debug)]
pub struct InlinedCall {
    /// The inlined copy.
    pub copy: InlinedCopy,
    /// The addresses where the call begins, or the reason why they are uncertain.
    pub beginnings: Result<Vec<Beginning>, Doubt>,
    /// Whether the compiler marked the beginnings. Otherwise they are derived from the
    /// code, which may be shared by several calls.
    pub is_marked: bool,
}

/// An address at which an inlined call begins.
#[derive(Debug)]
pub struct Beginning {
    /// The file address.
    pub address: u64,
    /// The order among the calls that begin at one address: the smallest is called first.
    pub order: Order,
    /// The index of the call among the frames at the address; 0 is the innermost.
    pub level: usize,
    /// The name of the calling function, which may be inlined itself.
    pub caller: Arc<str>,
    /// The parameters in order, with their locations at the address.
    pub arguments: Vec<Variable>,
}

/// The order of events at one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    begin: u64,
    view: u64,
    depth: usize,
}

impl SymbolFile {
    /// Returns the inlined calls of a function and where they begin.
    pub fn inlined_calls(&self, name: &str) -> Vec<InlinedCall> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut known: Option<Holder> = None;
        let copies = self.inlined_copies(name).into_iter();
        copies
            .map(|copy| {
                let other = known.take().filter(|holder| holder.die == copy.holder);
                let holder = other.unwrap_or_else(|| {
                    let function = self.function_at(copy.entry);
                    let entry = function.map_or(copy.entry, |function| function.low_pc);
                    Holder::read(self, info, copy.holder, entry)
                });
                let beginnings = Asked {
                    file: self,
                    info,
                    holder: &holder,
                    copy: &copy,
                }
                .beginnings();
                let is_marked = holder.is_marked(copy.die);
                known = Some(holder);
                InlinedCall {
                    copy,
                    beginnings,
                    is_marked,
                }
            })
            .collect()
    }
}

/// A copy whose beginnings are searched.
struct Asked<'a> {
    file: &'a SymbolFile,
    info: &'a Arc<DebugInfo>,
    holder: &'a Holder,
    copy: &'a InlinedCopy,
}

impl Asked<'_> {
    fn beginnings(&self) -> Result<Vec<Beginning>, Doubt> {
        let mut copies = self.holder.copies.iter();
        let number = copies.position(|held| held.die == self.copy.die);
        let number = number.ok_or(Doubt::NotRecorded)?;
        let held = self.holder.copies.get(number).ok_or(Doubt::NotRecorded)?;
        let code = &self.holder.code;
        if code.inside(&held.ranges).next().is_none() {
            return Err(Doubt::NoCode);
        }
        let mut inside = code.inside(&held.ranges);
        if let Some(at) = inside.find(|at| code.has_vector_arithmetic(*at)) {
            return Err(Doubt::Vector(at));
        }
        let marks = match held.mark() {
            Some(mark) => {
                let marks = self.marks_of(number, held, mark)?;
                self.check_marked(held, &marks)?;
                marks
            }
            None => {
                let begin = held.begin.ok_or(Doubt::NotRecorded)?;
                check_region(code, held, begin)?;
                self.check_not_doubled(held, begin)?;
                vec![(begin, 0)]
            }
        };
        let marks = marks.into_iter();
        marks.map(|mark| self.beginning(held, mark)).collect()
    }

    /// Returns the marks of a copy: its own and their duplicates.
    fn marks_of(&self, number: usize, held: &Held, own: Mark) -> Result<Vec<Mark>, Doubt> {
        let name = held.name.filter(|name| name.column != 0);
        let name = name.ok_or(Doubt::NotRecorded)?;
        let all = self.holder.marks(name);
        if !all.contains(&own) {
            return Err(Doubt::NotRecorded);
        }
        let of_name = || {
            let copies = self.holder.copies.iter().enumerate();
            copies.filter(|(_, other)| other.name == Some(name))
        };
        let mut marks = vec![own];
        for mark in all {
            if of_name().any(|(_, other)| other.mark() == Some(mark)) {
                continue;
            }
            // If a call of the function is inlined into another one, the mark belongs to
            // either; it is assigned to the innermost.
            let holding = || of_name().filter(|(_, other)| other.holds(mark.0));
            let innermost = holding().max_by_key(|(_, other)| other.depth);
            let (innermost, call) = innermost.ok_or(Doubt::Together(mark.0))?;
            let is_nested = |(at, other): (usize, &Held)| {
                other.origin == call.origin && self.is_inside(innermost, at)
            };
            if !holding().all(is_nested) {
                return Err(Doubt::Together(mark.0));
            }
            if innermost == number {
                marks.push(mark);
            }
        }
        let mut addresses: Vec<u64> = marks.iter().map(|mark| mark.0).collect();
        addresses.sort_unstable();
        match addresses.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Doubt::Together(pair[0])),
            None => Ok(marks),
        }
    }

    /// Returns whether a copy is another one or nested in it.
    fn is_inside(&self, number: usize, outer: usize) -> bool {
        let mut at = Some(number);
        while let Some(number) = at.filter(|number| *number != outer) {
            at = self.holder.copies.get(number).and_then(|held| held.outer);
        }
        at.is_some()
    }

    /// Checks that each call passes exactly one mark: no path around the marks reaches the
    /// marked instruction or a statement of the copy.
    fn check_marked(&self, held: &Held, marks: &[Mark]) -> Result<(), Doubt> {
        let code = &self.holder.code;
        for &(at, _) in marks {
            let jumps = code.jumps_to(at);
            if jumps.iter().any(|from| held.holds(*from)) {
                return Err(Doubt::Repeats(at));
            }
            // If no code of the copy is left, the mark may stand for the end of the
            // preceding code.
            let is_joined = code.may_be_jumped_to(at) && code.falls_into(at).is_some();
            if is_joined && !code.straight_from(at).any(|at| held.holds(at)) {
                return Err(Doubt::OtherWays(at));
            }
        }
        if let Some(&(at, _)) = marks.iter().find(|mark| self.is_too_early(held, **mark)) {
            return Err(Doubt::TooEarly(at));
        }
        let addresses: Vec<u64> = marks.iter().map(|mark| mark.0).collect();
        let without = code.reached_without(self.holder.entry, &addresses);
        let around: Vec<_> = self.declarations_around(held);
        let declared = held.name.map(|name| name.declared);
        let mut other = None;
        self.holder.rows().iter().for_each(|(row, _)| {
            let is_statement = row.is_stmt && row.line != 0;
            let is_own = declared.is_some_and(|declared| is_line_of(row, declared, &around));
            if is_statement && is_own && held.holds(row.address) && without.contains(&row.address) {
                other.get_or_insert(row.address);
            }
        });
        other.map_or(Ok(()), |at| Err(Doubt::OtherWays(at)))
    }

    /// Returns whether a mark was moved before the branch that decides whether the call is
    /// made: the branch's statement begins before the call's. The branch is the caller's,
    /// at the end of the mark's basic block.
    fn is_too_early(&self, held: &Held, mark: Mark) -> bool {
        let code = &self.holder.code;
        let Some(branch) = code.branch_after(mark.0).filter(|at| !held.holds(*at)) else {
            return false;
        };
        let Some(decided) = self.holder.row_of(branch) else {
            return true;
        };
        let rows = self.holder.rows();
        let begun = rows
            .iter()
            .position(|(row, view)| (row.address, *view) == mark);
        let position = |row: &Row| (row.line, row.column);
        let statements = |rows: &[(Row, u64)]| -> Vec<(u32, u32)> {
            let rows = rows.iter().map(|(row, _)| row);
            let rows = rows.filter(|row| row.is_stmt && row.line != 0 && row.file == decided.file);
            rows.map(position).collect()
        };
        let all = statements(rows).into_iter();
        let Some(statement) = all.filter(|at| *at <= position(decided)).max() else {
            return true;
        };
        // From the calling statement on.
        let calling = rows
            .iter()
            .take(begun.unwrap_or(0))
            .rposition(|(row, _)| row.is_stmt);
        let since = rows.get(calling.unwrap_or(0)..).unwrap_or(&[]);
        let until = since
            .iter()
            .take_while(|(row, _)| row.address <= branch)
            .count();
        !statements(since.get(..until).unwrap_or(&[])).contains(&statement)
    }

    /// Returns the declarations of the other functions with code in this function.
    fn declarations_around(&self, held: &Held) -> Vec<super::entry_line::Declaration> {
        let own = held.name.map(|name| name.declared);
        let holder = super::entry_line::declaration(self.info, self.holder.die);
        let copies = self.holder.copies.iter();
        let copies = copies.filter_map(|it| it.name.map(|name| name.declared));
        let all = copies.chain(holder);
        all.filter(|declared| Some(*declared) != own).collect()
    }

    /// Checks that the first source position of the code does not recur later; otherwise
    /// the code may be that of several calls.
    fn check_not_doubled(&self, held: &Held, begin: u64) -> Result<(), Doubt> {
        let mut first: Option<(u32, u32, u32)> = None;
        let mut is_first = true;
        let mut again = None;
        let mut rows: Vec<(u64, (u32, u32, u32))> = Vec::new();
        self.holder.rows().iter().for_each(|(row, _)| {
            if row.line != 0 && held.holds(row.address) {
                rows.push((row.address, (row.file, row.line, row.column)));
            }
        });
        rows.sort_by_key(|row| row.0);
        for (at, position) in rows.into_iter().filter(|row| row.0 >= begin) {
            let first = *first.get_or_insert(position);
            is_first &= position == first;
            if !is_first && position == first {
                again = again.or(Some(at));
            }
        }
        again.map_or(Ok(()), |at| Err(Doubt::OtherWays(at)))
    }

    fn beginning(&self, held: &Held, mark: Mark) -> Result<Beginning, Doubt> {
        let is_own = Some(mark.0) == held.begin;
        let address = if is_own {
            self.address_seen(mark.0)
        } else {
            mark.0
        };
        if address == self.holder.entry {
            return Err(Doubt::AtFunctionEntry);
        }
        let level = self.level(held, address).ok_or(Doubt::NotRecorded)?;
        let caller = match held.outer.and_then(|outer| self.holder.copies.get(outer)) {
            Some(outer) => self.name_of(outer.die),
            None => Some(Arc::clone(&self.copy.caller)),
        };
        let order = Order {
            begin: mark.0,
            view: mark.1,
            depth: held.depth,
        };
        Ok(Beginning {
            address,
            order,
            level,
            caller: caller.unwrap_or_else(|| "".into()),
            arguments: self.arguments(held, mark, address),
        })
    }

    /// Returns the address at which the copy's own entry can be observed.
    fn address_seen(&self, entry: u64) -> u64 {
        let is_shared = entry == self.holder.entry;
        let behind = is_shared.then(|| {
            self.file
                .address_after_entry(self.info, self.copy.die, entry)
        });
        behind.flatten().unwrap_or(entry)
    }

    fn name_of(&self, copy: DieRef) -> Option<Arc<str>> {
        let origin = self.info.origin(copy.unit, &self.info.die(copy)?)?;
        self.info.abstract_name(origin).map(Arc::from)
    }

    /// Returns the index of the call's frame at an address, just inside its caller's frame
    /// even if it has no frame there.
    fn level(&self, held: &Held, address: u64) -> Option<usize> {
        let mut chain: Vec<DieRef> = Vec::new();
        chain.extend(inlined_chain(self.info, address).into_iter().map(|it| it.0));
        chain.reverse();
        let position = |die: DieRef| chain.iter().position(|at| *at == die);
        if let Some(level) = position(held.die) {
            return Some(level);
        }
        let mut outer = held.outer.and_then(|outer| self.holder.copies.get(outer));
        while let Some(copy) = outer.filter(|copy| copy.is_outlined_part) {
            outer = copy.outer.and_then(|outer| self.holder.copies.get(outer));
        }
        let around = match outer {
            Some(outer) => position(outer.die)?,
            None => chain.len(),
        };
        around.checked_sub(1)
    }

    /// Returns the parameters with their locations at `address`, for a call that began at a
    /// mark. A location that the code in between may change is dropped; all are if the mark
    /// cannot be attributed.
    fn arguments(&self, held: &Held, mark: Mark, address: u64) -> Vec<Variable> {
        let copies = self.holder.copies.iter();
        let mut around = copies.filter(|it| it.name == held.name && it.holds(mark.0));
        let is_attributed = held.mark() == Some(mark) || around.all(|it| it.die == held.die);
        let changes = if mark.0 < address {
            Some(self.holder.code.changes(mark.0, address))
        } else {
            None
        };
        let padding = self.holder.code.padding_before(mark.0);
        let mut arguments = inlined_parameters(self.info, held.die);
        for argument in &mut arguments {
            argument.location.function = Some(self.holder.die);
            let location = argument.location.at_moment(mark, padding);
            let is_valid = is_attributed
                && changes.as_ref().is_none_or(|changes| {
                    let uses = location.uses();
                    uses.is_some_and(|uses| changes.leave(&uses))
                });
            argument.location = if is_valid { location } else { location.lost() };
        }
        arguments
    }
}

/// Checks code without marks: it must be entered only at its first instruction, once per
/// call. Instructions of the caller may be interspersed if no jump leads into or out of
/// them.
fn check_region(code: &Code, held: &Held, begin: u64) -> Result<(), Doubt> {
    if !held.holds(begin) {
        return Err(Doubt::NotRecorded);
    }
    for at in code.inside(&held.ranges) {
        let is_from_inside = |from: &u64| held.holds(*from);
        let jumps = code.jumps_to(at);
        if at == begin {
            if jumps.iter().any(is_from_inside) {
                return Err(Doubt::Repeats(at));
            }
            continue;
        }
        if !jumps.iter().all(is_from_inside) {
            return Err(Doubt::OtherWays(at));
        }
        let mut before = code.falls_into(at);
        let mut is_straight = true;
        while let Some(from) = before.filter(|from| !held.holds(*from)) {
            is_straight &= jumps.is_empty() && code.jumps_to(from).is_empty();
            before = code.falls_into(from);
            if !is_straight || !code.goes_on(from) || before.is_none() {
                return Err(Doubt::OtherWays(at));
            }
        }
    }
    Ok(())
}
