//! The end of the pass: names taken from the entries that others complete,
//! and everything sorted for lookup.

use super::index::Index;
use super::pass::{Pass, PendingFunction, PendingGlobal};
use super::{DieRef, REFERENCE_DEPTH_MAX};

impl Pass<'_> {
    /// An entry and those that it completes, in this order.
    fn with_origins(&self, start: DieRef) -> impl Iterator<Item = DieRef> {
        std::iter::successors(Some(start), |die| self.origins.get(die).copied())
            .take(REFERENCE_DEPTH_MAX)
    }

    /// The name of a function with the most scopes: a definition outside its
    /// class has the bare name or none, the declaration in it has them all.
    fn full_name(&self, start: DieRef) -> Option<Box<str>> {
        self.with_origins(start)
            .filter_map(|die| self.index.abstract_names.get(&die))
            .max_by_key(|name| name.len())
            .cloned()
    }

    pub fn finish(mut self) -> Index {
        let mut pending = std::mem::take(&mut self.functions);
        for PendingFunction { record, origin } in &mut pending {
            let Some(origin) = *origin else { continue };
            if let Some(name) = self.full_name(origin) {
                record.name = name;
            }
            if record.linkage_name.is_none() {
                record.linkage_name = self
                    .with_origins(origin)
                    .find_map(|die| self.linkage_names.get(&die).cloned());
            }
        }
        // Inlined copies refer to abstract instances that only refer to a
        // declaration: those get its name.
        let full_names: Vec<(DieRef, Box<str>)> = self
            .origins
            .keys()
            .filter_map(|die| Some((*die, self.full_name(*die)?)))
            .collect();
        self.index.abstract_names.extend(full_names);
        self.finish_functions(pending);
        self.finish_names();
        self.index
    }

    fn finish_functions(&mut self, pending: Vec<PendingFunction>) {
        let mut order: Vec<u32> = (0..pending.len() as u32).collect();
        order.sort_by_key(|at| {
            let record = pending.get(*at as usize).map(|function| &function.record);
            record.map(|record| (record.low_pc, record.name.is_empty(), record.die))
        });
        // Identical functions folded by the linker share an address: one stays.
        let mut new_place = vec![0u32; pending.len()];
        let mut slots: Vec<Option<PendingFunction>> = pending.into_iter().map(Some).collect();
        for old in order {
            let Some(function) = slots.get_mut(old as usize).and_then(Option::take) else {
                continue;
            };
            let record = function.record;
            let same = self
                .index
                .functions
                .last()
                .is_some_and(|last| last.low_pc == record.low_pc);
            if !same {
                self.index.functions.push(record);
            }
            if let Some(place) = new_place.get_mut(old as usize) {
                *place = (self.index.functions.len() as u32).saturating_sub(1);
            }
        }
        for inlined in &mut self.index.inlined {
            inlined.caller = new_place.get(inlined.caller as usize).copied().unwrap_or(0);
        }
        for (number, function) in self.index.functions.iter_mut().enumerate() {
            if let Some(at) = function
                .ranges
                .iter()
                .position(|range| range.contains(&function.low_pc))
            {
                function.ranges.swap(0, at);
            }
            for range in &function.ranges {
                self.index
                    .function_ranges
                    .push((range.clone(), number as u32));
            }
        }
        self.index
            .function_ranges
            .sort_by_key(|(range, _)| range.start);
    }

    fn finish_names(&mut self) {
        for global in std::mem::take(&mut self.globals) {
            let PendingGlobal {
                mut record,
                origin,
                readable,
            } = global;
            if record.name.is_empty() || origin.is_some() {
                let declared = origin.and_then(|origin| self.global_names.get(&origin));
                // Some compilers declare the static variables of a class as
                // its members; then the mangled name tells the scopes.
                match (declared, readable) {
                    (Some((name, external)), _) => {
                        record.name = name.clone();
                        record.external |= *external;
                    }
                    (None, Some(readable)) => record.name = readable.into(),
                    (None, None) => continue,
                }
            }
            self.index.globals.push(record);
        }
        let index = &mut self.index;
        for (number, function) in index.functions.iter().enumerate() {
            let tail = crate::names::tail(&function.name);
            if let Some(list) = index.functions_by_tail.get_mut(tail) {
                list.push(number as u32);
            } else {
                index
                    .functions_by_tail
                    .insert(tail.into(), vec![number as u32]);
            }
        }
        for (number, record) in index.types.iter().enumerate() {
            let tail = crate::names::tail(&record.name).into();
            index
                .types_by_tail
                .entry(tail)
                .or_default()
                .push(number as u32);
        }
        for (number, record) in index.globals.iter().enumerate() {
            let tail = crate::names::tail(&record.name).into();
            index
                .globals_by_tail
                .entry(tail)
                .or_default()
                .push(number as u32);
        }
    }
}
