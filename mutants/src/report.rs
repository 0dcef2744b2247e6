//! Edits that the tests do not notice, told as soon as they are known: a run of hours that is
//! interrupted has lost nothing of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::accepted::Accepted;
use crate::trial::Outcome;

/// An edit, as it is told.
pub struct Told {
    /// Its file.
    pub path: String,
    /// Its file and what it is: the same while its code is.
    pub key: String,
    /// The same with its line.
    pub line: String,
}

/// The outcomes so far.
pub struct Report<'a, W> {
    accepted: &'a Accepted,
    /// The file that lists each survivor.
    output: W,
    /// The survivors so far; it takes the place of `whole` at the end.
    part: fs::File,
    whole: PathBuf,
    survivors: BTreeSet<String>,
    noticed: BTreeSet<String>,
    noticed_count: usize,
    by_file: BTreeMap<String, usize>,
    accepted_count: usize,
    survived_count: usize,
    not_reached_count: usize,
}

/// Returns the file of the survivors while a run is not over.
fn part_of(whole: &Path) -> PathBuf {
    whole.with_extension("part")
}

impl<'a, W: Write> Report<'a, W> {
    /// Begins a report; `whole` is the file of the survivors, which stays as it is until the end.
    ///
    /// # Errors
    /// The file beside it cannot be written.
    pub fn begin(accepted: &'a Accepted, whole: &Path, output: W) -> io::Result<Report<'a, W>> {
        Ok(Report {
            accepted,
            output,
            part: fs::File::create(part_of(whole))?,
            whole: whole.to_owned(),
            survivors: BTreeSet::new(),
            noticed: BTreeSet::new(),
            noticed_count: 0,
            by_file: BTreeMap::new(),
            accepted_count: 0,
            survived_count: 0,
            not_reached_count: 0,
        })
    }

    /// Notes the outcome of an edit. One that was not noticed is written at once, and told unless
    /// it is accepted.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&mut self, edit: Told, outcome: Outcome) -> io::Result<()> {
        if outcome == Outcome::Noticed {
            self.noticed.insert(edit.key);
            self.noticed_count += 1;
            return Ok(());
        }
        writeln!(self.part, "{}", edit.key)?;
        let is_accepted = self.accepted.has(&edit.key);
        self.survivors.insert(edit.key);
        if is_accepted {
            self.accepted_count += 1;
            return Ok(());
        }
        *self.by_file.entry(edit.path).or_insert(0) += 1;
        let what = match outcome {
            Outcome::Survived => {
                self.survived_count += 1;
                "survived"
            }
            _ => {
                self.not_reached_count += 1;
                "not reached"
            }
        };
        writeln!(self.output, "{what}: {}", edit.line)?;
        self.output.flush()
    }

    /// Returns how many outcomes are known.
    pub fn count(&self) -> usize {
        let rest = self.survived_count + self.not_reached_count;
        self.noticed_count + self.accepted_count + rest
    }

    /// Ends the report: tells the counts, and puts the file of the survivors in its place. Returns
    /// how many were not noticed and not accepted, by file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(mut self, crates: &str) -> io::Result<BTreeMap<String, usize>> {
        for key in self.accepted.among(&self.noticed) {
            writeln!(self.output, "accepted, and noticed now: {key}")?;
        }
        writeln!(
            self.output,
            "{crates}: {} edits tried: {} noticed, {} accepted, {} survived, {} not reached",
            self.count(),
            self.noticed_count,
            self.accepted_count,
            self.survived_count,
            self.not_reached_count
        )?;
        let part = part_of(&self.whole);
        let lines = self.survivors.iter().map(|key| format!("{key}\n"));
        fs::write(&part, lines.collect::<String>())?;
        fs::rename(part, &self.whole)?;
        Ok(self.by_file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str) -> Told {
        Told {
            path: "a.rs".to_owned(),
            key: format!("a.rs: {name}"),
            line: format!("a.rs:7: {name}"),
        }
    }

    #[test]
    fn a_survivor_is_told_and_kept_before_the_run_ends() {
        let place = std::env::temp_dir().join(format!("mutants-report-{}", std::process::id()));
        fs::create_dir_all(&place).expect("a directory");
        let whole = place.join("survivors.txt");
        fs::write(&whole, "a.rs: of the last run\n").expect("a file");
        let accepted = Accepted::read(Path::new("accepted.txt")).expect("the list");
        let mut output = Vec::new();
        let mut report = Report::begin(&accepted, &whole, &mut output).expect("a file");
        report
            .note(told("noticed"), Outcome::Noticed)
            .expect("written");
        report
            .note(told("two"), Outcome::Survived)
            .expect("written");
        report
            .note(told("one"), Outcome::NotReached)
            .expect("written");
        let part = fs::read_to_string(place.join("survivors.part")).expect("a file");
        assert_eq!(part, "a.rs: two\na.rs: one\n");
        let before = fs::read_to_string(&whole).expect("a file");
        assert_eq!(before, "a.rs: of the last run\n");
        assert_eq!(report.count(), 3);
        let by_file = report.end("a").expect("written");
        assert_eq!(by_file.get("a.rs"), Some(&2));
        let after = fs::read_to_string(&whole).expect("a file");
        assert_eq!(after, "a.rs: one\na.rs: two\n");
        let text = String::from_utf8(output).expect("text");
        let expected = "survived: a.rs:7: two\nnot reached: a.rs:7: one\na: 3 edits tried: 1 \
                        noticed, 0 accepted, 1 survived, 1 not reached\n";
        assert_eq!(text, expected);
        fs::remove_dir_all(place).expect("it is removed");
    }
}
