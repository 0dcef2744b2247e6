//! Makes single edits in the pure crates, and tells which of them their own tests do not
//! notice.
//!
//! All edits are compiled in at once, each behind a condition, so that the tests are built
//! once. Each test is run once to record the edits that it reaches; then each edit is made
//! in a run of those tests alone. `README.md` says what is edited.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod accepted;
mod edits;
mod open;
mod operators;
mod pieces;
mod report;
mod returns;
mod tree;
mod trial;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use clap::Parser;

use crate::accepted::Accepted;
use crate::open::Open;
use crate::report::{Report, Told};
use crate::tree::Tree;
use crate::trial::{Tests, kept};

/// Single edits of the pure crates that their own tests do not notice.
#[derive(Parser)]
struct Arguments {
    /// The crates, without `juror-`.
    #[arg(required = true)]
    crates: Vec<String>,
    /// Tries the tests of this crate too, after those of the edited one. Several are given
    /// with commas.
    #[arg(long, value_delimiter = ',')]
    with: Vec<String>,
    /// Tries tests of at most this time for each edit.
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    /// Tries only the edits that survived the last run.
    #[arg(long)]
    again: bool,
    /// Lists the edits, and tries none.
    #[arg(long)]
    list: bool,
    /// The root of the repository.
    #[arg(long, default_value = ".")]
    repository: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let repository = arguments
        .repository
        .canonicalize()
        .context("the repository")?;
    let out = repository.join("target/mutants");
    let accepted = Accepted::read(&repository.join("mutants/accepted.txt"))?;
    let start = Instant::now();
    let mut tree = Tree::copy(
        &repository,
        &out.join("tree"),
        &out.join("target"),
        &arguments.crates,
        &arguments.with,
    )?;
    if arguments.list {
        for number in 0..tree.edits.len() {
            println!("{}", line(&tree, number));
        }
        return Ok(());
    }
    eprintln!("-- {} edits", tree.edits.len());
    let programs = tree.build()?;
    eprintln!("-- built in {} s", start.elapsed().as_secs());

    let scratch = out.join("reached");
    fs::create_dir_all(&scratch)?;
    let crates: Vec<String> = tree.edits.iter().map(|(of, ..)| of.clone()).collect();
    let mut tests = Tests::record(programs, &crates, &arguments.with, &scratch)?;
    tests.limit = arguments.limit.map(Duration::from_secs);
    let (count, time) = tests.size();
    eprintln!("-- {count} tests, {} s one after the other", time.as_secs());

    let mut tried = kept(tree.edits.len(), &tree.dropped);
    let last = out.join(format!("survivors-{}.txt", arguments.crates.join("-")));
    if arguments.again {
        let text = fs::read_to_string(&last).context("no run came before")?;
        let survivors: BTreeSet<&str> = text.lines().collect();
        tried.retain(|edit| survivors.contains(key(&tree, *edit).as_str()));
    }
    let report = Report::begin(&accepted, &last, io::stdout())?;
    let report = Mutex::new(report);
    let start = Instant::now();
    tests.run(&tried, |edit, outcome| {
        let Ok(mut report) = report.lock() else {
            return Ok(());
        };
        report.note(told(&tree, edit), outcome)?;
        if report.count() % 200 == 0 {
            eprintln!(
                "   {} of {}, {} s",
                report.count(),
                tried.len(),
                start.elapsed().as_secs()
            );
        }
        Ok(())
    })?;
    let report = report
        .into_inner()
        .map_err(|_| anyhow!("a test could not be tried"))?;
    let survived = report.end(&tree.crates.join(", "))?;
    let is_right = arguments.again
        || Open::read(&repository.join("mutants/open.txt"))?.judge(&arguments.crates, &survived);
    std::process::exit(i32::from(!is_right));
}

/// Returns an edit as it is told.
fn told(tree: &Tree, edit: usize) -> Told {
    Told {
        path: tree.edits[edit].1.display().to_string(),
        key: key(tree, edit),
        line: line(tree, edit),
    }
}

/// Returns an edit's file and what it is: the same while its code is.
fn key(tree: &Tree, edit: usize) -> String {
    let (_, path, edit) = &tree.edits[edit];
    format!("{}: {}", path.display(), edit.what)
}

/// Returns an edit with its line.
fn line(tree: &Tree, edit: usize) -> String {
    let (_, path, edit) = &tree.edits[edit];
    format!("{}:{}: {}", path.display(), edit.line, edit.what)
}
