//! The choices of a run that are not the usual ones, as they are written.

use juror_schedule::{Choice, ChoiceKind, Deviation, Moment, ThreadPath};
use serde::{Deserialize, Serialize};

/// A deviation as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) thread: String,
    pub(super) point: u64,
    pub(super) part: u32,
    pub(super) choice: Kind,
    pub(super) goes: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Run,
    Deliver,
    TimeOut,
    Spurious,
    Wake,
}

impl Written {
    pub(super) fn of(deviation: &Deviation) -> Written {
        let Deviation { moment, choice } = deviation;
        Written {
            thread: moment.thread.to_string(),
            point: moment.point,
            part: moment.part,
            choice: match choice.kind {
                ChoiceKind::Run => Kind::Run,
                ChoiceKind::Deliver => Kind::Deliver,
                ChoiceKind::TimeOut => Kind::TimeOut,
                ChoiceKind::Spurious => Kind::Spurious,
                ChoiceKind::Wake => Kind::Wake,
            },
            goes: choice.thread.to_string(),
        }
    }

    pub(super) fn deviation(&self) -> Option<Deviation> {
        let kind = match self.choice {
            Kind::Run => ChoiceKind::Run,
            Kind::Deliver => ChoiceKind::Deliver,
            Kind::TimeOut => ChoiceKind::TimeOut,
            Kind::Spurious => ChoiceKind::Spurious,
            Kind::Wake => ChoiceKind::Wake,
        };
        Some(Deviation {
            moment: Moment {
                thread: path_of(&self.thread)?,
                point: self.point,
                part: self.part,
            },
            choice: Choice {
                kind,
                thread: path_of(&self.goes)?,
            },
        })
    }
}

/// Reads a path of a thread, as `main/2/1`.
pub(super) fn path_of(text: &str) -> Option<ThreadPath> {
    let mut parts = text.split('/');
    if parts.next() != Some("main") {
        return None;
    }
    parts.try_fold(ThreadPath::MAIN, |path, number| {
        path.child(number.parse().ok()?)
    })
}
