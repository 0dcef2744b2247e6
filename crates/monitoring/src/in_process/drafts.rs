//! Stubs without an address, kept for the next site that has the same events.
//!
//! A name may have thousands of definitions, and a function may be called from thousands of
//! places: their stubs differ in the head alone.

use juror_monitor::lowering::{EventWords, MonitorProgram};
use juror_stub::emit::{Action, Draft, Section};
use juror_stub::head::{Head, Place};
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of drafts that are kept.
const KEPT: usize = 32;

/// The drafts that were made last.
#[derive(Debug, Default)]
pub(super) struct Drafts(VecDeque<(DraftKey, Arc<Draft>)>);

/// The parts of a draft, but for its head.
#[derive(Debug, PartialEq)]
pub(super) struct DraftKey {
    place: Place,
    gate: u64,
    sections: Vec<SectionKey>,
}

/// A section, with its program kept alive, so that no other has its address.
#[derive(Debug)]
struct SectionKey {
    program: Arc<MonitorProgram>,
    event: u16,
    table: u64,
    journal: u32,
    words: EventWords,
    action: ActionKey,
}

/// An action; for the start and the end of a call, with the number of its probe and what is
/// begun.
#[derive(Debug, PartialEq)]
enum ActionKey {
    Step,
    Begin(u32, u64),
    Return(u32, u64),
}

impl PartialEq for SectionKey {
    fn eq(&self, other: &SectionKey) -> bool {
        Arc::ptr_eq(&self.program, &other.program)
            && self.event == other.event
            && self.table == other.table
            && self.journal == other.journal
            && self.action == other.action
            && self.words == other.words
    }
}

impl DraftKey {
    /// Returns the key of the sections of a stub, each with the program and the event whose
    /// step it makes.
    pub fn new<'a>(
        (place, gate): (Place, u64),
        sections: impl Iterator<Item = (&'a Section<'a>, &'a Arc<MonitorProgram>, u16)>,
    ) -> DraftKey {
        let key = |(section, program, event): (&Section<'_>, &Arc<MonitorProgram>, u16)| {
            let action = match section.action {
                Action::Step => ActionKey::Step,
                Action::Begin(call) => ActionKey::Begin(call.event, call.begun),
                Action::Return(call) => ActionKey::Return(call.event, call.begun),
            };
            SectionKey {
                program: Arc::clone(program),
                event,
                table: section.table,
                journal: section.journal,
                words: section.words.clone(),
                action,
            }
        };
        DraftKey {
            place,
            gate,
            sections: sections.map(key).collect(),
        }
    }
}

impl Drafts {
    /// Returns the draft of a stub with this head, or makes it.
    pub fn get_or_make<E>(
        &mut self,
        key: DraftKey,
        head: &Head,
        make: impl FnOnce() -> Result<Draft, E>,
    ) -> Result<Arc<Draft>, E> {
        let is_same =
            |(known, draft): &&(DraftKey, Arc<Draft>)| draft.serves(head) && *known == key;
        if let Some((_, draft)) = self.0.iter().find(is_same) {
            return Ok(Arc::clone(draft));
        }
        let draft = Arc::new(make()?);
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back((key, Arc::clone(&draft)));
        Ok(draft)
    }
}
